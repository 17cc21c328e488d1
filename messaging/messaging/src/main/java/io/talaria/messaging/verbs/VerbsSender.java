// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.EventDescriptor;
import io.talaria.ffi.Libc;
import io.talaria.messaging.IdleStrategy;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.spin.Spinning;
import io.talaria.verbs.ActivePort;
import io.talaria.verbs.CompletionChannel;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Status;
import io.talaria.verbs.VerbsException;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread {@code talaria-ID-verbs-send}, which sends for all connections of a node what other
 * threads have left to it, and takes the completions of sends. One class, because its sleep must
 * look again at all that its turn looks at.
 *
 * <p><b>Work.</b> The {@link InterestList} names the channels that want to send. The thread pushes
 * each of them, and looks after it in each turn until there is nothing left. Then, before it
 * sleeps, it arms the rings of the channel, so that the next producer pushes itself or adds it
 * again.
 *
 * <p><b>Sleeping.</b>
 *
 * <ol>
 *   <li>The thread publishes that it sleeps, and looks at the list after that. A thread that adds
 *       to the list looks afterwards whether this thread sleeps, and wakes it. There is a full
 *       fence on both sides.
 *   <li>It arms the completion queue if any channel waits for a completion, and publishes that,
 *       too. A thread that posts what must be completed looks afterwards whether this thread sleeps
 *       without that.
 *   <li>What the poller leaves it sends itself at the end of its turn, so this thread is not woken
 *       for that.
 * </ol>
 */
final class VerbsSender {
  private static final System.Logger LOG = System.getLogger("io.talaria.messaging");
  private static final int BATCH = 32;
  private static final int CLOSING_MS = 1;

  /** How long a connection that closes waits until what it has sent has arrived. */
  private static final long CLOSE_NS = 1_000_000_000;

  /**
   * How long its queue pair stays in error until the device says that it has given back what it had
   * taken of the shared receive queue. A card says so at once, soft-RoCE never.
   */
  private static final long LEAVE_NS = 20_000_000;

  private static final long JOIN_MS = 3000;

  /** So often a thread that never sleeps looks for events of the device; a power of two. */
  private static final int IDLE_TURNS = 4096;

  private static final long PAUSE_NS = 10_000_000;

  /** {@link IdleStrategy#BACKOFF} polls for this time, then yields, and parks in the end. */
  private static final long BACKOFF_SPIN_NS = 100_000_000;

  private static final long BACKOFF_YIELD_NS = 1_000_000_000;
  private static final long BACKOFF_PARK_NS = 1;

  // What `sleeping` says.
  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;
  private static final int ASLEEP_AND_ARMED = 2;

  private final VerbsTransport transport;
  private final ChannelTable table;
  private final InterestList interest;
  private final CompletionChannel events;
  private final CompletionQueue queue;
  private final EventDescriptor doorbell = new EventDescriptor();
  private final Epoll epoll = new Epoll();
  private final int deviceEvents;
  private final IdleStrategy idleStrategy;
  private final Spinner spinner;
  private final Thread thread;

  private final AtomicInteger sleeping = new AtomicInteger();

  /** Who takes completions. */
  private final AtomicBoolean reaping = new AtomicBoolean();

  private final Completions completions = Completions.allocate(BATCH);
  private boolean isLost;

  /** Links that are to be closed. */
  private final ConcurrentLinkedQueue<VerbsLink> toClose = new ConcurrentLinkedQueue<>();

  // Only for this thread.
  private final List<VerbsLink> active = new ArrayList<>();
  private final List<VerbsLink> closing = new ArrayList<>();
  private int place;
  private long idleSinceNs;
  private boolean idle;
  private int idleTurns;

  /** Set by the poller. */
  private volatile Thread poller;

  // Only for the poller.
  private boolean left;
  private int pollersPlace;

  private volatile boolean stopped;

  /**
   * Opens the queue.
   *
   * @param entries of the completion queue
   * @param name of the thread
   */
  VerbsSender(
      VerbsTransport transport,
      ActivePort port,
      ChannelTable table,
      int entries,
      String name,
      IdleStrategy idleStrategy,
      Spinning spinning) {
    this.transport = transport;
    this.table = table;
    this.idleStrategy = idleStrategy;
    interest = new InterestList(table.places());
    spinner = new Spinner(spinning);
    deviceEvents = port.context().asyncDescriptor();
    CompletionChannel channel = null;
    CompletionQueue opened = null;
    try {
      channel = port.context().completionChannel();
      opened = port.context().completionQueue(entries, channel, 0);
      epoll.add(channel.descriptor());
      epoll.add(doorbell.descriptor());
      epoll.add(deviceEvents);
    } catch (RuntimeException e) {
      if (opened != null) {
        opened.close();
      }
      if (channel != null) {
        channel.close();
      }
      epoll.close();
      doorbell.close();
      throw e;
    }
    events = channel;
    queue = opened;
    thread = new Thread(null, this::run, name, 0, false);
    thread.setDaemon(true);
  }

  void begin() {
    thread.start();
  }

  CompletionQueue queue() {
    return queue;
  }

  // ---- called by others

  /** A channel wants to send. Any thread. */
  void wants(VerbsChannel channel) {
    interest.add(ChannelTable.place(channel.serial()));
    if (Thread.currentThread() == poller) {
      left = true;
    } else {
      wake();
    }
  }

  /** A channel waits for a completion. Any thread, after it has posted. */
  void attend() {
    VarHandle.fullFence();
    if (sleeping.getOpaque() == ASLEEP) {
      wake();
    }
  }

  private void wake() {
    VarHandle.fullFence();
    if (sleeping.getOpaque() != AWAKE && sleeping.getAndSet(AWAKE) != AWAKE) {
      doorbell.signal();
    }
  }

  /** Sends what the poller has left; whether there was any. Poller. */
  boolean sendLeft() {
    if (!left) {
      return false;
    }
    left = false;
    boolean done = false;
    // A round at most: what is added meanwhile is for the next turn.
    for (int i = 0, next = 0; i < table.places() && next >= 0; i++) {
      next = interest.take(pollersPlace);
      if (next >= 0) {
        pollersPlace = next + 1;
        VerbsLink link = at(next);
        done |= link != null && link.pushAndArm();
      }
    }
    return done;
  }

  /** Whether the poller has left something. Poller. */
  boolean isLeft() {
    return left;
  }

  /** The thread that polls is this one. */
  void pollerIs(Thread current) {
    if (poller != current) {
      poller = current;
    }
  }

  /** Closes a link, once what it has sent has arrived. Conductor. */
  void close(VerbsLink link) {
    toClose.add(link);
    wake();
  }

  private VerbsLink at(int where) {
    VerbsChannel channel = table.atPlace(where);
    VerbsLink link = channel == null ? null : channel.link();
    return link == null || link.leaving ? null : link;
  }

  // ---- completions

  /** Takes completions, unless another thread does; whether there were any. Any thread. */
  boolean reap() {
    if (!reaping.compareAndSet(false, true)) {
      return false;
    }
    try {
      return reapEntered();
    } finally {
      reaping.set(false);
    }
  }

  private boolean reapEntered() {
    boolean done = false;
    int count = BATCH;
    while (count == BATCH && !isLost) {
      count = queue.poll(completions);
      done |= count != 0;
      completed(count);
    }
    return done;
  }

  private void completed(int count) {
    if (count < 0) {
      isLost = true;
      transport.lost("the completion queue is lost");
    }
    for (int i = 0; i < count; i++) {
      long id = completions.id(i);
      VerbsChannel channel = table.ofSerial((int) (id >>> Integer.SIZE));
      if (channel == null) {
        continue;
      }
      int status = completions.status(i);
      if (status == Status.SUCCESS) {
        channel.completed((int) id);
      } else if (channel.ended() == null) {
        failed(channel, Status.text(status));
      }
    }
  }

  private static void failed(VerbsChannel channel, String why) {
    VerbsLink link = channel.link();
    if (link == null) {
      channel.end(why);
    } else {
      link.sendingFailed("sending failed: " + why);
    }
  }

  // ---- the thread

  private void run() {
    while (!stopped || !closing.isEmpty() || !toClose.isEmpty()) {
      try {
        if (turn()) {
          spinner.extend();
          idle = false;
        } else if (!staysAwake()) {
          sleep();
        }
      } catch (Throwable e) { // a mistake of ours, or no memory: other connections need this thread
        LOG.log(System.Logger.Level.ERROR, thread.getName() + ": continuing", e);
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  private boolean turn() {
    boolean done = reap();
    for (int i = 0; i < table.places(); i++) {
      int next = interest.take(place);
      if (next < 0) {
        break;
      }
      place = next + 1;
      activate(at(next));
      done = true;
    }
    for (int i = 0; i < active.size(); i++) {
      done |= active.get(i).push();
    }
    for (VerbsLink next = toClose.poll(); next != null; next = toClose.poll()) {
      next.closeNs = System.nanoTime() + CLOSE_NS;
      closing.add(next);
      done = true;
    }
    return closeSome() || done;
  }

  private void activate(VerbsLink link) {
    if (link != null && !link.active) {
      link.active = true;
      active.add(link);
    }
  }

  private boolean closeSome() {
    boolean done = false;
    for (int i = closing.size() - 1; i >= 0; i--) {
      VerbsLink link = closing.get(i);
      boolean late = System.nanoTime() - link.closeNs > 0;
      if (!link.leaving) {
        if (link.isDrained() || late) {
          leave(link);
          done = true;
        }
      } else if (late || hasLeft(link)) {
        closing.remove(i);
        transport.remove(link.channel());
        done = true;
      }
    }
    return done;
  }

  private void leave(VerbsLink link) {
    active.remove(link);
    link.closeSession();
    link.keepOutput();
    link.leaving = true;
    link.closeNs = System.nanoTime() + LEAVE_NS;
    link.channel().failQueuePair();
  }

  private boolean hasLeft(VerbsLink link) {
    lookAtDevice(); // the event may be all that there is
    return link.channel().hasTakenLast();
  }

  /** Whether it turns again at once, after waiting as the strategy has it. */
  private boolean staysAwake() {
    if (idleStrategy == IdleStrategy.ADAPTIVE) {
      return spin();
    }
    if ((++idleTurns & IDLE_TURNS - 1) == 0) {
      lookAtDevice(); // nothing else wakes this thread for that
    }
    long now = System.nanoTime();
    if (!idle) {
      idle = true;
      idleSinceNs = now;
    }
    long idleNs = now - idleSinceNs;
    if (idleStrategy == IdleStrategy.BUSY_SPIN || idleNs < BACKOFF_SPIN_NS) {
      Thread.onSpinWait();
    } else if (idleNs < BACKOFF_SPIN_NS + BACKOFF_YIELD_NS) {
      Thread.yield();
    } else {
      LockSupport.parkNanos(BACKOFF_PARK_NS);
    }
    return !stopped;
  }

  private boolean spin() {
    if (!spinner.start()) {
      return false;
    }
    boolean found = false;
    while (!found && spinner.goOn()) {
      Thread.onSpinWait();
      found = turn();
    }
    spinner.stop(found);
    return found;
  }

  private void sleep() {
    sleeping.set(ASLEEP);
    VarHandle.fullFence();
    try {
      if (!quiet() || armed()) {
        return;
      }
      boolean ignored = epoll.await(closing.isEmpty() ? -1 : CLOSING_MS);
    } finally {
      sleeping.set(AWAKE);
    }
    doorbell.clear(); // always: who wakes this thread may signal late
    boolean ignored = events.drop();
    lookAtDevice();
  }

  private void lookAtDevice() {
    if (Libc.awaitReadable(deviceEvents, 0)) {
      transport.deviceEvents();
    }
  }

  /** Arms the rings of those that have nothing to send; whether all have, and nothing else is. */
  private boolean quiet() {
    for (int i = active.size() - 1; i >= 0; i--) {
      VerbsLink link = active.get(i);
      if (!link.armForSender()) {
        return false;
      }
      link.active = false;
      active.remove(i);
    }
    return interest.isEmpty() && toClose.isEmpty() && (!stopped || !closing.isEmpty());
  }

  /** Arms the completion queue if a channel waits; whether there are completions. */
  private boolean armed() {
    if (isLost || (closing.isEmpty() && !anyAwaits())) {
      return false;
    }
    if (!reaping.compareAndSet(false, true)) {
      return true; // the holder takes them; then this thread looks again
    }
    try {
      sleeping.compareAndSet(ASLEEP, ASLEEP_AND_ARMED);
      int count = queue.arm(false, completions);
      completed(count);
      return count != 0;
    } catch (VerbsException e) {
      isLost = true;
      transport.lost(e.getMessage());
      return true;
    } finally {
      reaping.set(false);
    }
  }

  private boolean anyAwaits() {
    for (int i = 0; i < table.places(); i++) {
      VerbsChannel channel = table.atPlace(i);
      if (channel != null && channel.awaitsCompletion()) {
        return true;
      }
    }
    return false;
  }

  /** For people. */
  @Override
  public String toString() {
    return "sender: "
        + (sleeping.get() == AWAKE
            ? "awake"
            : sleeping.get() == ASLEEP ? "asleep" : "asleep, armed")
        + (interest.isEmpty() ? "" : ", some want to send")
        + (left ? ", the poller has left some" : "");
  }

  // ---- the end

  /** Ends the thread, once all links that were closed have ended. */
  void stop() {
    stopped = true;
    wake();
    try {
      thread.join(JOIN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    while (!reaping.compareAndSet(false, true)) {
      Thread.onSpinWait(); // from now on no thread takes completions
    }
  }

  /** Takes what completions there are, of channels that are closed. After {@link #stop}. */
  void drain() {
    boolean ignored = reapEntered();
  }

  /** Releases everything, once it was stopped and the queue pairs are closed. */
  void close() {
    queue.close();
    events.close();
    if (!thread.isAlive()) {
      epoll.close();
      doorbell.close();
    }
  }
}
