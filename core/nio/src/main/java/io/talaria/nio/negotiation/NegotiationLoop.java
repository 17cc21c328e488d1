// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.privileged.Privileged;
import io.talaria.nio.transport.TalariaThread;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The negotiation thread: its selector, its tasks, and its clock. Started by its first task.
 * Whatever fails on it is reported once and harms nothing but itself.
 *
 * <p>{@link #execute}, {@link #isolate}, {@link #repeat}, {@link #eventually}, {@link #onceATurn}
 * and {@link #examine} may be called by any thread; all else is confined to the thread.
 */
public final class NegotiationLoop implements Executor {
  /** So many tasks are done before the sessions are looked at again, which have time limits. */
  private static final int TASKS_A_TURN = 64;

  /** How long what is to be done {@link #soon} waits for the rest of a turn, but for one task. */
  private static final long SOON_NS = 500_000L;

  /** Each look at what is due takes time. */
  private static final long CHECK_EVERY_NS = 1_000_000L;

  /**
   * When something is tried again that failed for want of descriptors, and when a process whose
   * sessions have ended has ended itself.
   */
  private static final long LATER_NS = 250_000_000L;

  /** After so many failures in a row a repeated task is given up. */
  private static final int MAX_FAILURES = 10;

  private static final long PAUSE_NS = 10_000_000L;
  private static final int EXAMINE_LIMIT_MS = 5_000;

  /** Ticks that {@link Timed} parts may ask for; {@link #NO_TICK}: time has no say. */
  public static final int FAST_TICK_MS = 2;

  public static final int SLOW_TICK_MS = 100;
  public static final int REST_TICK_MS = 1000;
  public static final int NO_TICK = 0;

  private final SelectorProvider jdk;
  private final Reports reports;
  private final BooleanSupplier memoryLost;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final List<Timed> timed = new ArrayList<>();
  private final List<Runnable> beginnings = new ArrayList<>();
  private final List<Repetition> repeated = new ArrayList<>();
  private final List<Delayed> delayed = new ArrayList<>();
  private final List<Runnable> atEnd = new ArrayList<>();

  /** When the first of them has waited for long enough. */
  private long atEndDueNs;

  /** What is to be done {@link #onceATurn}, and when the first of it has waited for long enough. */
  private final Set<Runnable> once = new LinkedHashSet<>();

  private long onceDueNs;

  /** Another in tests. */
  long soonNs = SOON_NS;

  private long turns;
  private long checkedAtNs = System.nanoTime();
  private volatile Selector selector;
  private volatile Thread runner;

  /** Whether the thread sleeps or is about to: then a thread that has a task for it wakes it. */
  private volatile boolean asleep;

  /** Tasks of {@link #eventually}, and whether a look at them is under way. */
  private final ConcurrentLinkedQueue<Runnable> unhurried = new ConcurrentLinkedQueue<>();

  private final AtomicBoolean unhurriedDue = new AtomicBoolean();

  private record Delayed(Runnable task, long dueNs) {}

  /** Work that is tried again until it is done. */
  @FunctionalInterface
  public interface Repeated {
    /**
     * Tries once. On the negotiation thread.
     *
     * @return true when done
     */
    boolean tryOnce();
  }

  /** A part that does something at set times. */
  public interface Timed {
    /** How soon it is to be looked at, such as one of the ticks, or {@link #NO_TICK}. */
    int tickMs(long nowNs);

    /** Does what is due. */
    void check(long nowNs);
  }

  /** What is attached to the key of a channel that is registered with the selector. */
  public interface Ready {
    /** The channel is ready for what it is registered for. */
    void ready();

    /** {@link #ready} has thrown; that is reported already. */
    void failed();
  }

  /** A repeated task, and how often in a row it has failed. */
  private static final class Repetition {
    final Repeated task;
    final Runnable givenUp;
    int failures;
    boolean reported;

    Repetition(Repeated task, Runnable givenUp) {
      this.task = task;
      this.givenUp = givenUp;
    }
  }

  /**
   * @param memoryLost looks for streams whose memory is gone and fails them
   */
  NegotiationLoop(SelectorProvider jdk, Reports reports, BooleanSupplier memoryLost) {
    this.jdk = jdk;
    this.reports = reports;
    this.memoryLost = memoryLost;
  }

  /** Before the first task. */
  public void add(Timed part) {
    timed.add(part);
  }

  /** Has something done when the thread begins. Before the first task. */
  void atBegin(Runnable task) {
    beginnings.add(task);
  }

  /** The JDK's own provider, for channels to be registered with the selector. */
  public SelectorProvider jdk() {
    return jdk;
  }

  /** To register channels with, each with a {@link Ready}. */
  public Selector selector() {
    return selector;
  }

  boolean isCurrentThread() {
    return Thread.currentThread() == runner;
  }

  // ---- tasks

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    if (started() && asleep && !isCurrentThread()) { // awake, it looks for tasks before it sleeps
      selector.wakeup();
    }
  }

  /** Does a task on the thread; if it fails, does the other. */
  void isolate(String what, Runnable task, Runnable failed) {
    execute(() -> runGuarded(what, task, failed));
  }

  /**
   * Repeats a short task every few milliseconds until it says that it is done.
   *
   * @param givenUp is run once, instead, if the task fails again and again; negotiation thread
   */
  public void repeat(Repeated task, Runnable givenUp) {
    Repetition repetition = new Repetition(task, givenUp);
    execute(
        () -> {
          if (!over(repetition)) {
            repeated.add(repetition);
          }
        });
  }

  /**
   * Does a task that nobody waits for, within a quarter of a second. Of thousands that come
   * together, one wakes the thread. Any thread.
   */
  void eventually(Runnable task) {
    unhurried.add(task);
    if (!unhurriedDue.get() && unhurriedDue.compareAndSet(false, true)) {
      execute(() -> later(this::doUnhurried));
    }
  }

  private void doUnhurried() {
    unhurriedDue.set(false); // first: what comes from now on is found below, or has a look its own
    Runnable task = unhurried.poll();
    while (task != null) {
      runGuarded("an unhurried task", task);
      endTurnIfLong();
      task = unhurried.poll();
    }
  }

  /** Does something a quarter of a second later. */
  public void later(Runnable task) {
    delayed.add(new Delayed(task, System.nanoTime() + LATER_NS));
  }

  /** Does something once, at the end of this turn or, if that takes long, before it. */
  void soon(Runnable task) {
    if (atEnd.isEmpty()) {
      atEndDueNs = System.nanoTime() + soonNs;
    }
    atEnd.add(task);
  }

  /**
   * Does something short at once; but where this thread asks for it, once for all that the turn
   * brings, at its end or, if that takes long, before it. Any thread.
   *
   * @param task the same object each time
   */
  void onceATurn(Runnable task) {
    if (!isCurrentThread()) {
      task.run();
    } else if (once.isEmpty()) {
      once.add(task);
      onceDueNs = System.nanoTime() + soonNs;
      soon(this::doOnce);
    } else {
      once.add(task);
      if (System.nanoTime() - onceDueNs > 0) {
        doOnce();
      }
    }
  }

  private void doOnce() {
    while (!once.isEmpty()) {
      Runnable next = once.iterator().next();
      once.remove(next); // first: it may be asked for again by what it brings about
      runGuarded("what is done once a turn", next);
    }
  }

  /**
   * Number of the present turn. What may be looked at once for many tasks that have come together
   * is looked at once a turn.
   */
  public long turnNumber() {
    return turns;
  }

  /**
   * Does a piece of work. If shared memory turns out to be gone, that ends its streams only; if the
   * work fails in another way, so does only what it is about.
   */
  public void runGuarded(String what, Runnable work, Runnable failed) {
    try {
      work.run();
      Faults.take();
      return;
    } catch (InternalError e) {
      if (memoryLost.getAsBoolean()) {
        return;
      }
      reports.failure(what, e);
    } catch (RuntimeException | Error e) {
      reports.failure(what, e);
    }
    try {
      failed.run();
    } catch (RuntimeException | Error e) {
      reports.failure("the end of " + what, e);
    }
  }

  /** As the other, where nothing is to be done about a failure. */
  void runGuarded(String what, Runnable work) {
    runGuarded(what, work, () -> {});
  }

  /** Tries once. Not over if memory turned out to be gone: then it finds the stream ended. */
  private boolean over(Repetition repetition) {
    try {
      boolean done = repetition.task.tryOnce();
      Faults.take();
      repetition.failures = 0;
      return done;
    } catch (InternalError e) {
      return !memoryLost.getAsBoolean() && givenUp(repetition, e);
    } catch (RuntimeException | Error e) {
      return givenUp(repetition, e);
    }
  }

  private boolean givenUp(Repetition repetition, Throwable cause) {
    if (!repetition.reported) {
      repetition.reported = true;
      reports.failure("a repeated task", cause);
    }
    repetition.failures++;
    boolean enough = repetition.failures >= MAX_FAILURES;
    if (enough) {
      runGuarded("the end of a repeated task", repetition.givenUp);
    }
    return enough;
  }

  /**
   * The calling thread has got an {@link InternalError}: finds the streams whose memory is gone and
   * fails them, as {@link Faults} says. Any thread; waits for the negotiation thread, so no lock
   * may be held for which that one waits.
   *
   * @return whether any is; if not, the error is another's
   */
  boolean examine() {
    if (isCurrentThread()) {
      return memoryLost.getAsBoolean();
    }
    FutureTask<Boolean> found = new FutureTask<>(memoryLost::getAsBoolean);
    execute(found);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return found.get(EXAMINE_LIMIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
          return false;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  // ---- the thread

  /** Starts the thread if need be; false if that is impossible now. */
  boolean started() {
    return selector != null || start();
  }

  private boolean start() {
    return Privileged.get(this::startOnce); // the thread inherits what its maker may do
  }

  private synchronized boolean startOnce() {
    if (selector == null) {
      try {
        start(jdk.openSelector());
      } catch (IOException e) {
        // Tasks wait for the next one, which tries again: descriptors may be free by then.
        reports.report(
            Reason.LIMIT, "no selector for the negotiation, connections stay on TCP: " + e);
      }
    }
    return selector != null;
  }

  private void start(Selector opened) throws IOException {
    Thread thread = TalariaThread.daemon("talaria-negotiation", () -> run(opened));
    runner = thread;
    selector = opened;
    try {
      thread.start();
    } catch (OutOfMemoryError e) {
      selector = null;
      opened.close();
      reports.report(Reason.LIMIT, "no thread for the negotiation, connections stay on TCP: " + e);
    }
  }

  private void run(Selector running) {
    for (Runnable beginning : beginnings) {
      runGuarded("the start of the negotiation", beginning);
    }
    while (true) {
      try {
        turn(running);
      } catch (IOException | RuntimeException | Error e) {
        reports.failure("a turn", e);
        LockSupport.parkNanos(PAUSE_NS); // if it is the selector that fails, it may do so for good
      }
    }
  }

  private void turn(Selector running) throws IOException {
    turns++;
    select(running);
    forgetInterrupt();
    doTasks();
    long now = System.nanoTime();
    if (now - checkedAtNs >= CHECK_EVERY_NS) {
      checkedAtNs = now;
      checkTimes(now);
    }
    endTurn();
  }

  private void select(Selector running) throws IOException {
    asleep = true; // before the look at the tasks: a thread that adds one later sees it
    try {
      if (tasks.isEmpty() && atEnd.isEmpty()) {
        running.select(this::dispatch, tickMs());
      } else {
        asleep = false;
        running.selectNow(this::dispatch);
      }
    } finally {
      asleep = false;
    }
  }

  /**
   * Programs that interrupt each thread they find do not mean this one: with the status set no
   * select would wait, and files would be closed at the first access.
   */
  private static void forgetInterrupt() {
    boolean ignored = Thread.interrupted();
  }

  private void doTasks() {
    for (int i = 0; i < TASKS_A_TURN; i++) {
      Runnable task = tasks.poll();
      if (task == null) {
        break;
      }
      runGuarded("a task", task);
      endTurnIfLong();
    }
  }

  private void endTurnIfLong() {
    if (!atEnd.isEmpty() && System.nanoTime() - atEndDueNs > 0) {
      endTurn();
    }
  }

  private void endTurn() {
    for (int i = 0; i < atEnd.size(); i++) { // one may bring another
      runGuarded("the end of a turn", atEnd.get(i));
    }
    atEnd.clear();
  }

  private void dispatch(SelectionKey key) {
    asleep = false; // tasks that come from now on are found after this
    Ready attached = (Ready) key.attachment();
    runGuarded("what is ready", attached::ready, attached::failed);
    endTurnIfLong();
  }

  /** The shortest tick that anything asks for; 0: sleep until another thread wakes this one. */
  private long tickMs() {
    if (!repeated.isEmpty()) {
      return FAST_TICK_MS;
    }
    long now = System.nanoTime();
    int least = delayed.isEmpty() ? NO_TICK : SLOW_TICK_MS;
    for (Timed part : timed) {
      int tick = part.tickMs(now);
      if (tick != NO_TICK && (least == NO_TICK || tick < least)) {
        least = tick;
      }
    }
    return least;
  }

  private void checkTimes(long now) {
    for (Timed part : timed) {
      runGuarded("what is due", () -> part.check(now));
      endTurnIfLong();
    }
    repeated.removeIf(this::over);
    while (!delayed.isEmpty() && now - delayed.get(0).dueNs() >= 0) {
      runGuarded("a delayed task", delayed.remove(0).task());
      endTurnIfLong();
    }
  }
}
