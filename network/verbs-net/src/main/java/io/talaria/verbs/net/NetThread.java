// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.EventDescriptor;
import io.talaria.verbs.CompletionChannel;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;

/**
 * A thread of a node: takes completions and serves connections that others have put into its queue;
 * when there is nothing it looks for a short time, then sleeps on its completion channel and its
 * doorbell. A thread that gives it work calls {@link #wake} afterwards.
 */
abstract class NetThread extends Thread {
  static final System.Logger LOG = System.getLogger("io.talaria.verbs.net");
  private static final VarHandle SLEEPING = handle();
  private static final int BATCH = 64;
  private static final int REST_MS = 1000;
  private static final int SHORT_REST_MS = 2;
  private static final long PAUSE_NS = 10_000_000;

  final VerbsNode node;
  final Count count = new Count();
  final CompletionQueue queue;
  final Completions completions = Completions.allocate(BATCH);

  /** Connections to be served: each at most once, as its flag says. */
  final MpscAtomicArrayQueue<Connection> ready;

  private final CompletionChannel channel;
  private final EventDescriptor doorbell;
  private final Epoll epoll;
  private final long spinNs;

  /** 1: a thread that brings work must wake this one. */
  @SuppressWarnings("UnusedVariable") // by its handle
  private int sleeping;

  /** Confined to the thread. */
  private boolean broken;

  private volatile boolean stopping;

  /** Since when it is in calls of the program; 0: it is not. */
  private volatile long busySinceNs;

  NetThread(VerbsNode node, String name, int queueEntries) {
    super(name);
    setDaemon(true);
    this.node = node;
    spinNs = node.options.spinNs();
    ready = new MpscAtomicArrayQueue<>(Integer.highestOneBit(4 * node.options.connections()) * 2);
    EventDescriptor bell = null;
    Epoll sleeper = null;
    CompletionChannel opened = null;
    CompletionQueue made = null;
    try {
      bell = new EventDescriptor();
      sleeper = new Epoll();
      opened = node.context.completionChannel();
      made = node.context.completionQueue(queueEntries, opened, 0);
      sleeper.add(opened.descriptor());
      sleeper.add(bell.descriptor());
    } catch (RuntimeException | Error e) {
      if (made != null) {
        made.close();
      }
      if (opened != null) {
        opened.close();
      }
      if (sleeper != null) {
        sleeper.close();
      }
      if (bell != null) {
        bell.close();
      }
      throw e;
    }
    doorbell = bell;
    epoll = sleeper;
    channel = opened;
    queue = made;
  }

  private static VarHandle handle() {
    try {
      return MethodHandles.lookup().findVarHandle(NetThread.class, "sleeping", int.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  /** Works off completions. */
  abstract void completed(int entries);

  /** Serves a connection. */
  abstract void serve(Connection connection);

  /** Does what else there is to do; gives whether there was something. */
  abstract boolean more();

  /** Whether there is work that no event announces; asked before it sleeps. */
  abstract boolean hasMore();

  /** Whether it must look again soon, because it waits for time to pass. */
  abstract boolean isImpatient();

  /** Whether the completion queue is lost: it is not looked at any more. */
  final boolean isBroken() {
    return broken;
  }

  @Override
  public void run() {
    long idleSinceNs = 0;
    while (!stopping) {
      try {
        if (step()) {
          idleSinceNs = 0;
          continue;
        }
        if (spinNs > 0 && !isImpatient()) {
          long nowNs = System.nanoTime();
          if (idleSinceNs == 0) {
            idleSinceNs = nowNs;
          }
          if (nowNs - idleSinceNs < spinNs) {
            Thread.onSpinWait();
            continue;
          }
        }
        rest();
        idleSinceNs = 0;
      } catch (Throwable t) {
        // A mistake of ours, or no memory: the connections that are concerned have not been served.
        LOG.log(Level.ERROR, getName() + ": unexpected exception; continuing", t);
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  private boolean step() {
    boolean worked = false;
    int entries = isBroken() ? 0 : queue.poll(completions);
    if (entries != 0) {
      taken(entries);
      worked = true;
    }
    for (int i = 0; i < BATCH; i++) {
      Connection connection = ready.poll();
      if (connection == null) {
        break;
      }
      connection.unscheduled(this);
      serve(connection);
      worked = true;
    }
    return more() || worked;
  }

  private void taken(int entries) {
    if (entries < 0) {
      broken = true;
      node.lost("the completion queue of " + getName() + " is lost");
    } else {
      completed(entries);
    }
  }

  /** Takes completions until there are none, so that what is closed has none any more. */
  final void drain() {
    for (int i = 0; i <= queue.capacity() / BATCH; i++) {
      int entries = queue.poll(completions);
      if (entries <= 0) {
        return;
      }
      completed(entries);
    }
  }

  private void rest() {
    SLEEPING.setVolatile(this, 1);
    VarHandle.fullFence();
    if (stopping || !ready.isEmpty() || hasMore()) {
      SLEEPING.setVolatile(this, 0);
      return;
    }
    int entries = isBroken() ? 0 : queue.arm(false, completions);
    if (entries != 0) {
      SLEEPING.setVolatile(this, 0);
      taken(entries);
      return;
    }
    count.add(Count.SLEEPS, 1);
    boolean ignored = epoll.await(isImpatient() ? SHORT_REST_MS : REST_MS);
    SLEEPING.setVolatile(this, 0);
    doorbell.clear(); // also if its waker meant an earlier sleep, and rang late
    channel.drop();
  }

  /** Something was given to it. */
  final void wake() {
    VarHandle.fullFence();
    if ((int) SLEEPING.getOpaque(this) != 0 && SLEEPING.compareAndSet(this, 1, 0)) {
      doorbell.signal();
    }
  }

  /** Puts a connection into the queue. */
  final void offer(Connection connection) {
    while (!ready.offer(connection)) {
      Thread.onSpinWait();
    }
    wake();
  }

  /** Calls of the program begin. */
  final void busy() {
    busySinceNs = System.nanoTime() | 1;
  }

  /** They are over. */
  final void free() {
    busySinceNs = 0;
  }

  /** How long it is in calls of the program. */
  final long busyNs(long nowNs) {
    long since = busySinceNs;
    return since == 0 ? 0 : nowNs - since;
  }

  /** Ends the thread soon. */
  final void end() {
    stopping = true;
    wake();
  }

  /** Closes what it has, once it has ended and its connections are closed. */
  void release() {
    queue.close();
    channel.close();
    epoll.close();
    doorbell.close();
  }
}
