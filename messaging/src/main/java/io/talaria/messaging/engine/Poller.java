// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.IdleStrategy;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.spin.Spinning;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** The thread that receives for a node. It blocks only in its selector. */
final class Poller extends Thread {
  private static final Connection[] NONE = {};

  /** A look at all sessions, at least so often while there is work. */
  private static final long LOOK_NS = 50_000;

  /** How often a channel that a leader reads is looked at. */
  private static final long LENT_MS = 1;

  private static final int TURNS_BETWEEN_CLOCKS = 16;

  /**
   * The steps of {@link IdleStrategy#BACKOFF}: so long it looks, so long it yields, then it parks.
   */
  private static final long BACKOFF_SPIN_NS = 100_000_000;

  private static final long BACKOFF_YIELD_NS = 1_000_000_000;
  private static final long BACKOFF_PARK_NS = 1;

  /**
   * After so long without anything the others are told what was delivered, and again after more.
   */
  private static final long TELL_NS = 20_000;

  private static final long TELL_AGAIN_NS = 1_000_000;

  private final LocalNode node;

  /** Or null. */
  private final NetworkTransport network;

  private final Selector selector;
  private final Spinner spinner;
  private final IdleStrategy idleStrategy;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Consumer<SelectionKey> onReady = this::ready;

  private Connection[] connections = NONE;
  private boolean streams;
  private boolean lent;
  private long lookedNs;
  private int turns;

  /** Nothing was found since {@link #idleSinceNs}; not for those who sleep. */
  private boolean idle;

  private long idleSinceNs;
  private long tellAtNs;

  /** Odd while it sleeps or is about to: each sleep has a number of its own. Of this thread. */
  private volatile int sleep;

  /** Somebody has called {@link #wake} since the last turn began. */
  private volatile boolean signalled;

  private volatile boolean stopped;

  Poller(LocalNode node, Spinning spinning, IdleStrategy idleStrategy) throws IOException {
    super(node.threadName("poller"));
    setDaemon(true);
    this.node = node;
    this.idleStrategy = idleStrategy;
    network = node.network();
    selector = Selector.open();
    spinner = new Spinner(spinning);
  }

  /** The number of its sleep, see {@link #sleeps}. After a full fence. */
  int sleepNumber() {
    return sleep;
  }

  /** Whether it sleeps or is about to, by {@link #sleepNumber}. */
  static boolean sleeps(int sleep) {
    return (sleep & 1) != 0;
  }

  /** Wakes it if it sleeps. Any thread; what it is to see must be published before. */
  void wake() {
    signalled = true;
    VarHandle.fullFence();
    if (sleeps(sleep)) {
      selector.wakeup();
    }
  }

  /** Has something run here. Any thread. */
  void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  void stopSoon() {
    stopped = true;
    selector.wakeup();
  }

  @Override
  public void run() {
    ThreadContext.current().poller = true;
    try {
      while (!stopped) {
        try {
          turns();
        } catch (Throwable e) {
          node.internal("poller", e); // and continues: without it, the node would receive nothing
        }
      }
    } finally {
      try {
        selector.close();
      } catch (IOException e) {
        // It was for this thread alone.
      }
    }
  }

  private void turns() throws IOException {
    if (turn()) {
      spinner.extend();
      idle = false;
      return;
    }
    if (idleStrategy != IdleStrategy.ADAPTIVE) {
      stayAwake();
      return;
    }
    if (node.leaders().get() == 0 && spinner.start()) {
      boolean found = false;
      while (!found && node.leaders().get() == 0 && spinner.goOn()) {
        Thread.onSpinWait();
        found = turn();
      }
      spinner.stop(found);
      if (found) {
        return;
      }
    }
    sleep();
  }

  /** Idles after an empty turn when nothing wakes this thread, as the idle strategy says. */
  private void stayAwake() {
    long now = System.nanoTime();
    if (!idle) {
      idle = true;
      idleSinceNs = now;
      tellAtNs = now + TELL_NS;
    } else if (now - tellAtNs >= 0) {
      tellAtNs = now + TELL_AGAIN_NS;
      tellAll();
    }
    long idleNs = now - idleSinceNs;
    if (idleStrategy == IdleStrategy.BUSY_SPIN || idleNs < BACKOFF_SPIN_NS) {
      Thread.onSpinWait();
    } else if (idleNs < BACKOFF_SPIN_NS + BACKOFF_YIELD_NS) {
      Thread.yield();
    } else {
      turns = TURNS_BETWEEN_CLOCKS; // a turn takes longer now
      LockSupport.parkNanos(BACKOFF_PARK_NS);
    }
  }

  /**
   * Tells what else is told before sleep alone: how far all was taken, also by leaders, who leave
   * it to this thread while it is awake.
   */
  private void tellAll() {
    for (Connection each : connections) {
      each.arm();
      each.disarm();
    }
  }

  /** Once around; whether anything was done. */
  private boolean turn() throws IOException {
    boolean done = false;
    if (signalled) {
      signalled = false;
      VarHandle.fullFence();
    }
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
      done = true;
    }
    lookNowAndThen();
    if (network != null) {
      done |= network.bring();
    }
    Connection[] all = connections;
    boolean stalled = false;
    for (Connection each : all) {
      try {
        done |= each.poll();
        stalled |= each.stalled;
        if (each.link().over()) {
          over(each);
        }
      } catch (Throwable e) { // of one connection; the others continue
        node.internal("poller", e);
        each.failed("an error of this node: " + Thrown.text(e));
      }
    }
    node.delivery().releaseHolders();
    if (!stalled) {
      node.delivery().enoughRoom();
    }
    if (network != null) {
      done |= network.send();
    }
    return done;
  }

  private void lookNowAndThen() throws IOException {
    if (streams) {
      selector.selectNow(onReady);
      lookedNs = System.nanoTime();
      lendBack();
    } else if (++turns >= TURNS_BETWEEN_CLOCKS) {
      turns = 0;
      long now = System.nanoTime();
      if (now - lookedNs > LOOK_NS) {
        lookedNs = now;
        selector.selectNow(onReady);
        if (idleStrategy != IdleStrategy.ADAPTIVE) {
          lendBack(); // else done when it wakes
        }
      }
    }
  }

  private void sleep() throws IOException {
    int awake = sleep;
    sleep = awake + 1;
    try {
      VarHandle.fullFence();
      sleepUntilWoken();
    } finally {
      sleep = awake + 2;
    }
    for (Connection each : connections) {
      each.disarm();
    }
    lendBack();
  }

  private void sleepUntilWoken() throws IOException {
    boolean quiet = !signalled && tasks.isEmpty() && !stopped;
    for (Connection each : connections) {
      quiet &= each.arm();
    }
    long most = lent ? LENT_MS : 0;
    if (network != null) {
      quiet = quiet && network.arm(); // last: what is sent before may want a look
      int look = network.maxSleepMs();
      most = look == 0 || (most != 0 && most < look) ? most : look;
    }
    if (quiet && !signalled) {
      selector.select(onReady, most); // 0: without limit
    } else {
      selector.selectNow(onReady);
    }
  }

  private void ready(SelectionKey key) {
    Connection connection = (Connection) key.attachment();
    try {
      if (key.isWritable()) {
        key.interestOps(SelectionKey.OP_READ);
        connection.link().unblock();
        connection.link().push();
        interest(connection, key);
      }
      connection.readable = true;
      if (connection.ringReceiverTaken() && connection.link().readsSession()) {
        // A leader reads: it would be ready again and again.
        key.interestOps(key.interestOps() & ~SelectionKey.OP_READ);
        connection.interestLent = true;
        lent = true;
      }
    } catch (CancelledKeyException e) {
      // Closed by a leader or a sender that failed; its end is found.
    }
  }

  private static void interest(Connection connection, SelectionKey key) {
    if (connection.link().blocked()) {
      key.interestOps(key.interestOps() | SelectionKey.OP_WRITE);
    }
  }

  private void lendBack() {
    boolean still = false;
    for (Connection each : connections) {
      SocketChannel session = each.link().session();
      SelectionKey key = session == null ? null : session.keyFor(selector);
      if (key == null || !key.isValid()) {
        continue;
      }
      try {
        if (each.link().over()) {
          continue;
        }
        if (each.interestLent && !each.ringReceiverTaken()) {
          each.interestLent = false;
          each.readable = true;
          key.interestOps(key.interestOps() | SelectionKey.OP_READ);
        }
        interest(each, key);
      } catch (CancelledKeyException e) {
        // As above.
      }
      still |= each.interestLent;
    }
    lent = still;
  }

  /** A connection begins. Here. */
  void add(Connection connection) {
    SocketChannel session = connection.link().session();
    if (session != null) {
      try {
        session.register(selector, SelectionKey.OP_READ, connection);
      } catch (ClosedChannelException e) {
        connection.failed("the session was closed");
      }
    }
    connection.readable = true;
    connections = Arrays.copyOf(connections, connections.length + 1);
    connections[connections.length - 1] = connection;
    streams |= connection.link().readsSession();
  }

  /** A connection's other end has ended: take in what it has left, then bury it. */
  private void over(Connection connection) {
    for (int i = 0; i < 1 << 16 && connection.poll(); i++) {
      // Until nothing more comes or can be taken in.
    }
    if (connection.stalled || (connection.leaving && !gone(connection))) {
      if (!connection.link().severed()) {
        return;
      }
      SocketChannel session = connection.link().session();
      SelectionKey key = session == null ? null : session.keyFor(selector);
      if (key != null && key.isValid()) {
        key.interestOps(0); // its end would be ready again and again
      }
    } else {
      drop(connection, connection.failureOr("its process has ended, or closed the connection"));
    }
  }

  /** Whether a connection that is to end in order has nothing left to send or to hear. */
  private boolean gone(Connection connection) {
    return connection.sender().unconsumedBytes() == 0
        && (node.closing() || connection.link().severed() || connection.parted());
  }

  /** Ends a connection. Here. */
  void drop(Connection connection, String reason) {
    if (connection.dead()) {
      return;
    }
    SocketChannel session = connection.link().session();
    SelectionKey key = session == null ? null : session.keyFor(selector);
    if (key != null) {
      key.cancel();
    }
    long lost = connection.end(reason);
    Connection[] rest = new Connection[connections.length];
    int count = 0;
    boolean anyStream = false;
    for (Connection each : connections) {
      if (each != connection) {
        rest[count++] = each;
        anyStream |= each.link().readsSession();
      }
    }
    connections = Arrays.copyOf(rest, count); // it may never have come in
    streams = anyStream;
    try {
      selector.selectNow(onReady); // lets the key go
    } catch (IOException e) {
      node.internal("poller", e);
    }
    node.removed(connection, reason, lost);
  }
}
