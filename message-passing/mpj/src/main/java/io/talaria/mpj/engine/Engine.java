// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.DensePayload;
import io.talaria.mpj.device.BlockingCall;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Matched;
import io.talaria.mpj.device.Operation;
import io.talaria.nio.jit.NotInlined;
import java.util.ArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * What the API stands on: sends, receives and probes of any thread, over one device. One thread at
 * a time makes progress for all that wait; the others are parked, and woken when theirs is done.
 *
 * <p>A wait spins or yields briefly ({@link Waiting}), then sleeps on the rank's word until a peer
 * sends a wake-up.
 */
public final class Engine implements AutoCloseable {
  private static final int BUDGET = 64;
  private static final int POLLS_WITHOUT_CLOCK = 64;
  private static final long SLEEP_LIMIT_NS = 500_000_000;

  /** The peer of a promise, which has none. */
  private static final int NOBODY = -3;

  /** Operations that are kept to be used again. */
  private static final int POOL = 256;

  /** Something to wait for that is no operation. Called under the lock. */
  @FunctionalInterface
  public interface Condition {
    /** Whether it is so. */
    boolean met();
  }

  private final Device device;
  private final long spinNs;
  private final long awakeNs;
  private final int pollsWithoutClock;
  private final boolean sharedCores;
  private final EngineLock lock = new EngineLock();
  private final ArrayList<Thread> parked = new ArrayList<>();
  private final Operation[] pool = new Operation[POOL];
  private int pooled;
  private final Helper helper = new Helper(this);
  private Thread progressor;

  /** Run after progress, or null; see {@link #onProgress}. */
  private Runnable service;

  private int conditional;
  private boolean sleeping;
  private boolean closed;

  /** What has ended {@link #helper}. */
  private Throwable helpFailure;

  /**
   * Starts on a device.
   *
   * @param device closed with this
   * @param waiting what a wait does before it sleeps
   */
  public Engine(Device device, Waiting waiting) {
    this(device, waiting, false);
  }

  /**
   * Starts on a device.
   *
   * @param device closed with this
   * @param waiting what a wait does before it sleeps
   * @param sharedCores see {@link #sharedCores}
   */
  public Engine(Device device, Waiting waiting, boolean sharedCores) {
    this.device = device;
    this.sharedCores = sharedCores;
    spinNs = waiting.spinNs();
    awakeNs = spinNs + waiting.yieldNs();
    // Before it yields for the first time as well: who is waited for may need this core.
    pollsWithoutClock = spinNs == 0 && awakeNs > 0 ? 1 : POLLS_WITHOUT_CLOCK;
    device.onArrival(this::wakeParked);
    device.onNews(this::progressIfOpen);
  }

  /**
   * Whether all ranks of the job are on one host, and more than its cores: at most as many as there
   * are cores make progress at the same time. All ranks know the same.
   */
  public boolean sharedCores() {
    return sharedCores;
  }

  /** Number of this rank in the job. */
  public int rank() {
    return device.rank();
  }

  /** Ranks in the job. */
  public int size() {
    return device.size();
  }

  /** The device, for what is printed about it. */
  public Device device() {
    return device;
  }

  /** Makes progress, and tells those who wait for what it may have changed. */
  private int advance() {
    int happened = device.progress(BUDGET);
    if (happened > 0) {
      if (service != null) {
        service.run();
      }
      stir();
    }
    return happened;
  }

  /** After whatever may have completed another thread's operation: see that it notices. */
  private void stir() {
    if (sleeping) {
      device.wake();
    }
    if (conditional > 0) {
      wakeParked();
    }
  }

  // Elements side by side: operations come from a pool, so nothing is allocated.

  /**
   * Sends elements that lie side by side, and waits.
   *
   * @return the bytes sent
   * @throws CommunicationException if the rank is gone, or the elements cannot be read
   */
  public long send(
      Object array,
      BaseType type,
      long first,
      long count,
      int to,
      int tag,
      int context,
      boolean synchronous) {
    lock.lock();
    try {
      Operation op = startSend(array, type, first, count, to, tag, context, synchronous);
      if (!op.done) {
        await(op, null, BlockingCall.SEND, to, tag, context);
      }
      long bytes = op.bytes;
      RuntimeException failure = op.failure;
      give(op);
      if (failure != null) {
        throw Transfer.ofOperation(failure);
      }
      return bytes;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Receives elements side by side, and waits.
   *
   * @param outcome makes the answer of the operation, which is over, or throws; called under the
   *     lock, and must not call this engine
   */
  public <T> T receive(
      Object array,
      BaseType type,
      long first,
      long count,
      int from,
      int tag,
      int context,
      Function<Operation, T> outcome) {
    lock.lock();
    try {
      Operation op = startReceive(array, type, first, count, from, tag, context);
      return finishHeld(op, outcome);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Starts to send elements that lie side by side.
   *
   * @return the operation, for {@link #finish} once; null if the message has left without fault
   */
  public Operation isend(
      Object array,
      BaseType type,
      long first,
      long count,
      int to,
      int tag,
      int context,
      boolean synchronous) {
    lock.lock();
    try {
      Operation op = startSend(array, type, first, count, to, tag, context, synchronous);
      if (op.done && op.error == Operation.OK) {
        give(op);
        return null;
      }
      return op;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Starts to receive elements side by side.
   *
   * @return the operation, for {@link #finish} once
   */
  public Operation irecv(
      Object array, BaseType type, long first, long count, int from, int tag, int context) {
    lock.lock();
    try {
      return startReceive(array, type, first, count, from, tag, context);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for an operation of {@link #isend} or {@link #irecv}, and takes it back: the caller must
   * not use it afterwards.
   *
   * @param outcome as in {@link #receive}
   */
  public <T> T finish(Operation op, Function<Operation, T> outcome) {
    lock.lock();
    try {
      return finishHeld(op, outcome);
    } finally {
      lock.unlock();
    }
  }

  /** Operations that one call waits for, one after the other. Called under the lock. */
  public interface Run {
    /** The next operation of {@link #isend} or {@link #irecv}, or null at the end. */
    Operation next();

    /** Takes what became of the operation that {@link #next} gave, and is over; may throw. */
    void over(Operation op);
  }

  /**
   * Waits for several operations, and takes each back, as {@link #finish} does.
   *
   * @param run which
   */
  public void finish(Run run) {
    lock.lock();
    try {
      for (Operation op = run.next(); op != null; op = run.next()) {
        awaitHeld(op);
        try {
          run.over(op);
        } finally {
          give(op);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void awaitHeld(Operation op) {
    if (!op.done) {
      int call =
          op.receive ? BlockingCall.RECV : op.peer == NOBODY ? BlockingCall.ANY : BlockingCall.SEND;
      await(op, null, call, op.peer, op.tag, op.context);
    }
  }

  /**
   * An operation that no device knows: {@link #end} ends it.
   *
   * @return for {@link #finish} once
   */
  public Operation promise() {
    lock.lock();
    try {
      Operation op = take();
      return op.send(
          ((DensePayload) op.payload).set(null, BaseType.BYTE, 0, 0), NOBODY, Device.ANY_TAG, 0);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends an operation of {@link #promise}; by any thread.
   *
   * @param failure why it failed, or null
   */
  public void end(Operation op, RuntimeException failure) {
    lock.lock();
    try {
      endHeld(op, failure);
      if (sleeping) {
        device.wake();
      }
      wakeParked();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends an operation of {@link #promise}, in what runs under the lock.
   *
   * @param failure why it failed, or null
   */
  public static void endHeld(Operation op, RuntimeException failure) {
    op.failure = failure;
    op.complete(failure == null ? Operation.OK : Operation.FAILED);
  }

  private <T> T finishHeld(Operation op, Function<Operation, T> outcome) {
    awaitHeld(op);
    try {
      return outcome.apply(op);
    } finally {
      give(op);
    }
  }

  @NotInlined
  private Operation startSend(
      Object array,
      BaseType type,
      long first,
      long count,
      int to,
      int tag,
      int context,
      boolean synchronous) {
    Operation op = take();
    op.send(((DensePayload) op.payload).set(array, type, first, count), to, tag, context);
    op.synchronous = synchronous;
    device.isend(op);
    stir();
    return op;
  }

  private Operation startReceive(
      Object array, BaseType type, long first, long count, int from, int tag, int context) {
    Operation op = take();
    op.receive(((DensePayload) op.payload).set(array, type, first, count), from, tag, context);
    device.irecv(op);
    stir();
    return op;
  }

  /** An operation of the pool; it keeps its payload. */
  private Operation take() {
    if (pooled > 0) {
      return pool[--pooled];
    }
    Operation op = new Operation();
    op.payload = new DensePayload();
    return op;
  }

  private void give(Operation op) {
    if (pooled < pool.length) {
      ((DensePayload) op.payload).clear();
      if (op.failure != null) {
        op.failure = null;
      }
      if (op.attachment != null) {
        op.attachment = null;
      }
      if (op.waiter != null) {
        op.waiter = null;
      }
      pool[pooled++] = op;
    }
  }

  // Others.

  /** Starts a send. */
  public void isend(Operation send) {
    lock.lock();
    try {
      device.isend(send);
      stir();
    } finally {
      lock.unlock();
    }
  }

  /** Starts a receive. */
  public void irecv(Operation receive) {
    lock.lock();
    try {
      device.irecv(receive);
      stir();
    } finally {
      lock.unlock();
    }
  }

  /** Whether an operation is over, after some progress if it is not. */
  public boolean test(Operation op) {
    lock.lock();
    try {
      if (!op.done) {
        advance();
      }
      return op.done;
    } finally {
      lock.unlock();
    }
  }

  /** Makes some progress. */
  public void progress() {
    lock.lock();
    try {
      advance();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes progress unless a thread that waits does it anyway.
   *
   * @return whether something happened
   */
  public boolean progressIfIdle() {
    // Read without the lock: a stale value only makes this call useless.
    if (progressor != null) {
      return false;
    }
    lock.lock();
    try {
      return progressor == null && !closed && advance() > 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sets what runs under the lock after progress in which something happened, and after {@link
   * #locked}. It may use the device, and must not call this engine.
   *
   * @param action short; null for nothing
   */
  public void onProgress(Runnable action) {
    lock.lock();
    try {
      service = action;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Runs something under the lock, and then what {@link #onProgress} has set.
   *
   * @param action short; it may use the device, and must not call this engine
   */
  public void locked(Runnable action) {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the device was closed");
      }
      action.run();
      if (service != null) {
        service.run();
      }
      stir();
    } finally {
      lock.unlock();
    }
  }

  /** For threads of the device, which may be late. */
  private void progressIfOpen() {
    lock.lock();
    try {
      if (!closed) {
        advance();
        stir();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits for an operation. */
  public void await(Operation op) {
    lock.lock();
    try {
      awaitHeld(op);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until one of them is over; returns its index. Nulls are passed over. */
  public int awaitAny(Operation[] ops) {
    lock.lock();
    try {
      int first = anyDone(ops);
      if (first < 0) {
        await(null, () -> anyDone(ops) >= 0, BlockingCall.ANY, 0, 0, 0);
        first = anyDone(ops);
      }
      return first;
    } finally {
      lock.unlock();
    }
  }

  private static int anyDone(Operation[] ops) {
    for (int i = 0; i < ops.length; i++) {
      if (ops[i] != null && ops[i].done) {
        return i;
      }
    }
    return -1;
  }

  /** Looks for a message, after some progress. */
  public boolean iprobe(int source, int tag, int context, Operation out) {
    lock.lock();
    try {
      if (device.iprobe(source, tag, context, out)) {
        return true;
      }
      advance();
      return device.iprobe(source, tag, context, out);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a message; it stays where it is. */
  public void probe(int source, int tag, int context, Operation out) {
    lock.lock();
    try {
      if (!device.iprobe(source, tag, context, out)) {
        await(
            null,
            () -> device.iprobe(source, tag, context, out),
            BlockingCall.PROBE,
            source,
            tag,
            context);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes a message out of matching, if one has arrived. */
  public Matched improbe(int source, int tag, int context, Operation out) {
    lock.lock();
    try {
      Matched found = device.improbe(source, tag, context, out);
      if (found == null) {
        advance();
        found = device.improbe(source, tag, context, out);
      }
      return found;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a message and takes it out of matching. */
  public Matched mprobe(int source, int tag, int context, Operation out) {
    Matched[] found = new Matched[1];
    lock.lock();
    try {
      found[0] = device.improbe(source, tag, context, out);
      if (found[0] == null) {
        Condition taken =
            () -> {
              if (found[0] == null) {
                found[0] = device.improbe(source, tag, context, out);
              }
              return found[0] != null;
            };
        await(null, taken, BlockingCall.PROBE, source, tag, context);
      }
      return found[0];
    } finally {
      lock.unlock();
    }
  }

  /** Starts to receive what a matched probe took. */
  public void imrecv(Matched message, Operation receive) {
    lock.lock();
    try {
      device.imrecv(message, receive);
      stir();
    } finally {
      lock.unlock();
    }
  }

  /** Asks to cancel; the operation still has to be waited for. */
  public void cancel(Operation op) {
    lock.lock();
    try {
      device.cancel(op);
      stir();
    } finally {
      lock.unlock();
    }
  }

  // Ranks that end while others continue.

  /**
   * The process of a rank has ended; see {@link Device#ended}.
   *
   * @param peer its rank
   * @param why for the program
   */
  public void ended(int peer, String why) {
    lockedIfOpen(() -> device.ended(peer, why));
  }

  /**
   * Whether operations with a rank fail.
   *
   * @param peer its rank
   */
  public boolean isGone(int peer) {
    lock.lock();
    try {
      return device.isGone(peer);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sets which ranks a receive from any rank waits for; see {@link Device#members}.
   *
   * @param context where
   * @param ranks some of the job's
   */
  public void members(int context, int[] ranks) {
    lockedIfOpen(() -> device.members(context, ranks));
  }

  /**
   * Fails what waits in a context, and what is started there later.
   *
   * @param context where
   * @param why for the program
   */
  public void revoke(int context, String why) {
    CommunicationException failure =
        new CommunicationException(CommunicationException.Kind.REVOKED, why);
    lockedIfOpen(() -> device.revoke(context, failure));
  }

  private void lockedIfOpen(Runnable action) {
    lock.lock();
    try {
      if (!closed) {
        action.run();
        if (service != null) {
          service.run(); // What was to come from a rank may have come meanwhile.
        }
        stir();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether receives wait in a context for their messages, or senders for what becomes of theirs.
   *
   * @param context where
   */
  public boolean isAwaited(int context) {
    lock.lock();
    try {
      return !closed && device.isAwaited(context);
    } finally {
      lock.unlock();
    }
  }

  /** Forgets a context. */
  public void release(int context) {
    lock.lock();
    try {
      if (!closed) {
        device.release(context);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until all has left this rank. */
  public void flush() {
    lock.lock();
    try {
      if (!device.flushed()) {
        await(null, device::flushed, BlockingCall.SEND, Device.ANY_SOURCE, Device.ANY_TAG, 0);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for a condition that other threads or messages make true; {@link #changed} tells of it.
   */
  public void await(Condition condition) {
    lock.lock();
    try {
      if (!condition.met()) {
        await(null, condition, BlockingCall.ANY, 0, 0, 0);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Makes waiters look at their conditions again. */
  public void changed() {
    device.wake();
    lock.lock();
    try {
      wakeParked();
    } finally {
      lock.unlock();
    }
  }

  // Waits. The lock is held on entry and on return, and not while sleeping.

  private void await(Operation op, Condition condition, int call, int peer, int tag, int context) {
    boolean interrupted = false;
    Thread self = Thread.currentThread();
    while (!met(op, condition)) {
      if (progressor == null && !self.isVirtual()) {
        progressor = self;
        try {
          progressUntil(op, condition, call, peer, tag, context);
        } catch (RuntimeException | Error e) {
          if (!closed) {
            device.describeWait(BlockingCall.NOTHING, 0, 0, 0);
          }
          throw e;
        } finally {
          progressor = null;
          wakeParked();
        }
      } else {
        interrupted |= parkOnce(self, op);
      }
    }
    if (interrupted) {
      self.interrupt();
    }
  }

  private static boolean met(Operation op, Condition condition) {
    return op != null ? op.done : condition.met();
  }

  private boolean parkOnce(Thread self, Operation op) {
    if (progressor == null) {
      if (helpFailure != null) {
        throw new CommunicationException(
            CommunicationException.Kind.THREAD,
            "the thread that makes progress for rank " + rank() + " failed: " + helpFailure,
            helpFailure);
      }
      helper.start();
    }
    if (op != null) {
      op.waiter = self;
    } else {
      conditional++;
    }
    parked.add(self);
    lock.unlock();
    LockSupport.park(this);
    boolean interrupted = Thread.interrupted();
    lock.lock();
    parked.remove(self);
    if (op == null) {
      conditional--;
    }
    return interrupted;
  }

  /** Wakes those whose condition may be met, or who may make progress now. */
  private void wakeParked() {
    for (int i = 0; i < parked.size(); i++) {
      LockSupport.unpark(parked.get(i));
    }
  }

  @NotInlined
  private void progressUntil(
      Operation op, Condition condition, int call, int peer, int tag, int context) {
    int idle = 0;
    long idleSince = 0;
    boolean described = false;
    while (true) {
      if (closed) {
        throw new IllegalStateException("the device was closed while somebody waited");
      }
      if (device.progress(BUDGET) > 0) {
        idle = 0;
        if (service != null) {
          service.run();
        }
        if (conditional > 0) {
          wakeParked();
        }
        if (met(op, condition)) {
          break;
        }
        continue;
      }
      if (met(op, condition)) {
        break;
      }
      if (lock.wanted()) {
        letOthersIn();
        continue;
      }
      if (++idle < pollsWithoutClock) {
        Thread.onSpinWait();
        continue;
      }
      long now = System.nanoTime();
      if (idle == pollsWithoutClock) {
        idleSince = now;
      }
      if (now - idleSince < spinNs) {
        Thread.onSpinWait();
        continue;
      }
      if (now - idleSince < awakeNs) {
        Thread.yield();
        continue;
      }
      if (!described) {
        described = true;
        device.describeWait(call, peer, tag, context);
      }
      sleep(op, condition);
      idle = pollsWithoutClock - 1;
      if (spinNs == 0) {
        idle = 0;
      }
    }
    if (described && !closed) {
      device.describeWait(BlockingCall.NOTHING, 0, 0, 0);
    }
  }

  private void sleep(Operation op, Condition condition) {
    boolean mayRest = device.arm() && !met(op, condition);
    if (mayRest) {
      sleeping = true;
      lock.unlock();
      try {
        device.sleep(SLEEP_LIMIT_NS);
      } finally {
        lock.lock();
        sleeping = false;
      }
    }
    if (!closed) {
      device.disarm();
    }
  }

  private void letOthersIn() {
    lock.unlock();
    Thread.yield();
    lock.lock();
  }

  /** Makes progress as long as threads are parked that cannot do it themselves. */
  void help() {
    lock.lock();
    try {
      if (progressor == null) {
        progressor = Thread.currentThread();
        try {
          progressUntil(null, () -> closed || parked.isEmpty(), BlockingCall.ANY, 0, 0, 0);
        } finally {
          progressor = null;
          wakeParked();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Fails the virtual threads that wait for progress, now and later. */
  void helpFailed(Throwable failure) {
    lock.lock();
    try {
      if (helpFailure == null) {
        helpFailure = failure;
      }
      wakeParked();
    } finally {
      lock.unlock();
    }
  }

  /** Whether virtual threads wait for progress that no thread makes. */
  boolean helpWanted() {
    lock.lock();
    try {
      return !closed && progressor == null && !parked.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@link #close} was called. */
  public boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        helper.stop();
        wakeParked();
        device.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
