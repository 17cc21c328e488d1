// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.IdleStrategy;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.records.ThreadContext;
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

/**
 * The thread that receives for a node. It blocks in its selector only. Its turns, its sleep and the
 * end of connections are one class, because they share the list of connections and what the last
 * turn has found, without a lock.
 */
public final class Poller extends Thread {
  private static final Connection[] NONE = {};
  private static final String ENDED = "its process has ended, or closed the connection";

  /** The longest time between two checks of all sessions while there is work, about. */
  private static final long LOOK_NS = 50_000;

  /** How often a sleeping poller checks whether a leader has stopped reading a session. */
  private static final long LENT_MS = 1;

  /** How many turns pass between two readings of the clock, which are not free. */
  private static final int TURNS_BETWEEN_CLOCKS = 16;

  /** {@link IdleStrategy#BACKOFF} polls for this time, then yields, and parks in the end. */
  private static final long BACKOFF_SPIN_NS = 100_000_000;

  private static final long BACKOFF_YIELD_NS = 1_000_000_000;
  private static final long BACKOFF_PARK_NS = 1;

  /**
   * After this time without work, a poller that never sleeps tells its peers what was delivered.
   */
  private static final long TELL_NS = 20_000;

  /** It repeats that after each such time without work. */
  private static final long TELL_AGAIN_NS = 1_000_000;

  private final ConnectionOwner node;
  private final NodeEvents events;

  /** Mostly none. */
  private final NetworkTransport[] networks;

  private final Selector selector;
  private final Spinner spinner;
  private final IdleStrategy idleStrategy;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Consumer<SelectionKey> onReady = this::ready;

  private final Gathering gathering = new Gathering();
  private Connection[] connections = NONE;

  /** Whether records of any connection arrive through its session. */
  private boolean streams;

  /** Whether a leader reads any session, which the selector therefore does not watch. */
  private boolean lent;

  /** Whether a thread of the program read any connection's ring itself during the last turn. */
  private boolean led;

  /** Whether this thread has slept since it last called {@link #lendBack}. */
  private boolean slept;

  /** Whether there was no work since it last slept: it was woken in vain. */
  private boolean inVain;

  private long lookedNs;
  private int turns;

  /** Whether there was no work since {@link #idleSinceNs}. Not used by ADAPTIVE. */
  private boolean idle;

  private long idleSinceNs;
  private long tellAtNs;

  /** Odd while this thread sleeps or is about to; another number for each sleep. */
  private volatile int sleep;

  /** Whether {@link #wake} was called since the last turn began. */
  private volatile boolean signalled;

  private volatile boolean stopped;

  /**
   * Creates the thread of a node, which is started later.
   *
   * @param networks the network transports that the node uses, or none
   * @throws IOException if there is no selector
   */
  public Poller(
      ConnectionOwner node,
      String name,
      NetworkTransport[] networks,
      Spinning spinning,
      IdleStrategy idleStrategy)
      throws IOException {
    super(name);
    setDaemon(true);
    this.node = node;
    events = node.events();
    this.idleStrategy = idleStrategy;
    this.networks = networks;
    selector = Selector.open();
    spinner = new Spinner(spinning);
  }

  /** The number for {@link #sleeps}. Call this after a volatile write or a full fence. */
  int sleepNumber() {
    return sleep;
  }

  /** Whether a {@link #sleepNumber} means that the poller sleeps or is about to. */
  static boolean sleeps(int sleep) {
    return (sleep & 1) != 0;
  }

  /** Whether the poller sleeps or is about to, for people. */
  boolean sleeps() {
    return sleeps(sleep);
  }

  /** Wakes the poller if it sleeps. Any thread, after publishing what the poller must see. */
  public void wake() {
    signalled = true;
    VarHandle.fullFence();
    if (sleeps(sleep)) {
      selector.wakeup();
    }
  }

  /** Runs a task on this thread. Any thread. */
  public void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  /** Closes a connection on this thread. Any thread. */
  public void dropSoon(Connection connection, String reason) {
    execute(() -> drop(connection, reason));
  }

  /**
   * Closes a connection that has to give way, unless messages that have arrived on it have to wait:
   * they would be lost. Any thread.
   */
  public void partSoon(Connection connection, String reason) {
    execute(
        () -> {
          if (!connection.receiver().waits()) {
            drop(connection, reason);
          }
        });
  }

  /**
   * Closes a connection that another one replaces, once what has arrived was delivered. Any thread.
   */
  public void retireSoon(Connection connection, String reason) {
    execute(() -> retire(connection, reason));
  }

  private static void retire(Connection connection, String reason) {
    if (connection.dead()) {
      return;
    }
    connection.ending(reason);
    connection.receiver().readable = true; // what is still in the session has arrived, too
    try {
      boolean ignored = connection.receiver().poll();
    } finally {
      connection.link().sever(); // this turn finds that it is over
    }
  }

  public void stopSoon() {
    stopped = true;
    selector.wakeup();
  }

  @Override
  public void run() {
    ThreadContext context = ThreadContext.current();
    context.poller = true;
    node.delivery().runOn(context);
    try {
      while (!stopped) {
        try {
          turns();
        } catch (Throwable e) {
          events.internal("poller", e); // and continue: without this thread the node cannot receive
        }
      }
    } finally {
      close();
    }
  }

  /** Releases all. On this thread, or for a poller that was not started. */
  public void close() {
    try {
      selector.close();
    } catch (IOException e) {
      // Only this thread uses it.
    }
  }

  private void turns() throws IOException {
    boolean done = turn();
    if (slept) { // only now: what has woken this thread comes first
      slept = false;
      lendBack();
    }
    if (done) {
      inVain = false;
      gathering.turned(connections);
      spinner.extend();
      idle = false;
      return;
    }
    gathering.idle();
    if (idleStrategy != IdleStrategy.ADAPTIVE) {
      stayAwake();
      return;
    }
    // Woken in vain, for example to see whether a leader has stopped: that one may want this core.
    if (!led && !inVain && spinner.start()) {
      boolean found = false;
      while (!found && !led && spinner.goOn()) {
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

  /**
   * Waits between two turns without work, as BUSY_SPIN and BACKOFF require: other threads need not
   * wake this one.
   */
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
      turns = TURNS_BETWEEN_CLOCKS; // parking makes turns slow: read the clock in each
      LockSupport.parkNanos(BACKOFF_PARK_NS);
      Thread.interrupted();
    }
  }

  /**
   * Tells peers how far this node has delivered, also of what leaders have received. A poller that
   * sleeps does that while it arms; leaders do not do it while the poller is awake.
   */
  private void tellAll() {
    for (Connection each : connections) {
      each.receiver().arm();
      each.receiver().disarm();
    }
  }

  /** Runs tasks and serves all connections once; whether there was any work. */
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
    for (NetworkTransport each : networks) {
      done |= each.bring();
    }
    Connection[] all = connections;
    boolean stalled = false;
    boolean anyLed = false;
    for (Connection each : all) {
      try {
        done |= each.receiver().poll();
        anyLed |= each.receiver().led;
        if (each.link().over()) {
          over(each);
        }
        stalled |= each.receiver().stalled; // over() receives, too
      } catch (Throwable e) { // ends this connection, not the others
        events.internal("poller", e);
        each.failed("an error of this node: " + Thrown.text(e));
      }
    }
    led = anyLed;
    node.delivery().releaseHolders();
    if (!stalled) {
      node.delivery().enoughRoom();
    }
    for (NetworkTransport each : networks) {
      done |= each.send();
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
          lendBack(); // ADAPTIVE does that after each sleep
        }
      }
    }
  }

  private void sleep() throws IOException {
    int awake = sleep;
    sleep = awake + 1;
    try {
      VarHandle.fullFence();
      Thread.interrupted(); // by a listener or another thread: the selector would not sleep
      sleepUntilWoken();
    } finally {
      sleep = awake + 2;
    }
    for (Connection each : connections) {
      each.receiver().disarm();
    }
    slept = true;
    inVain = true;
  }

  private void sleepUntilWoken() throws IOException {
    boolean quiet = !signalled && tasks.isEmpty() && !stopped;
    for (Connection each : connections) {
      quiet &= each.receiver().arm();
    }
    long most = lent ? LENT_MS : 0;
    for (NetworkTransport each : networks) {
      // Last: arming the connections may send, and the transport must progress what was sent.
      quiet = quiet && each.arm();
      int look = each.maxSleepMs();
      most = look == 0 || (most != 0 && most < look) ? most : look;
    }
    if (quiet && !signalled) {
      selector.select(onReady, most); // 0 means no time limit
    } else {
      selector.selectNow(onReady);
    }
  }

  private void ready(SelectionKey key) {
    Connection connection = (Connection) key.attachment();
    RecordReceiver receiver = connection.receiver();
    try {
      if (key.isWritable()) {
        key.interestOps(SelectionKey.OP_READ);
        connection.link().unblock();
        connection.link().push();
        interest(connection, key);
      }
      receiver.readable = true;
      if (connection.leading().locked() && connection.link().readsSession()) {
        // A leader reads the session. With its interest kept, the selector would return at once,
        // again and again.
        key.interestOps(key.interestOps() & ~SelectionKey.OP_READ);
        receiver.interestLent = true;
        lent = true;
      }
    } catch (CancelledKeyException e) {
      // A leader or a sender has failed and closed the session; a later turn finds its end.
    }
  }

  private static void interest(Connection connection, SelectionKey key) {
    if (connection.link().blocked()) {
      key.interestOps(key.interestOps() | SelectionKey.OP_WRITE);
    }
  }

  /** Watches the sessions again that leaders have stopped reading. */
  private void lendBack() {
    boolean still = false;
    for (Connection each : connections) {
      RecordReceiver receiver = each.receiver();
      SocketChannel session = each.link().session();
      SelectionKey key = session == null ? null : session.keyFor(selector);
      if (key == null || !key.isValid()) {
        continue;
      }
      try {
        if (each.link().over()) {
          continue;
        }
        if (receiver.interestLent && !each.leading().locked()) {
          receiver.interestLent = false;
          receiver.readable = true;
          key.interestOps(key.interestOps() | SelectionKey.OP_READ);
        }
        interest(each, key);
      } catch (CancelledKeyException e) {
        // As in ready().
      }
      still |= receiver.interestLent;
    }
    lent = still;
  }

  /** Adds a new connection. On this thread. */
  public void add(Connection connection) {
    SocketChannel session = connection.link().session();
    if (session != null) {
      try {
        session.register(selector, SelectionKey.OP_READ, connection);
      } catch (ClosedChannelException e) {
        connection.failed("the session was closed");
      }
    }
    connection.receiver().readable = true;
    connections = Arrays.copyOf(connections, connections.length + 1);
    connections[connections.length - 1] = connection;
    streams |= connection.link().readsSession();
  }

  /**
   * Receives what a connection whose other end has ended still has, then closes it. While messages
   * wait for receivers, it stays, but nothing is sent on it.
   */
  private void over(Connection connection) {
    for (int i = 0; i < RecordReceiver.MAX_TURNS && connection.receiver().poll(); i++) {
      // Until nothing more arrives or can be delivered.
    }
    if (connection.receiver().waits() || (connection.closing().leaving && !gone(connection))) {
      if (!connection.link().severed()) {
        return;
      }
      SocketChannel session = connection.link().session();
      SelectionKey key = session == null ? null : session.keyFor(selector);
      if (key != null && key.isValid()) {
        key.interestOps(0); // else the selector would report the end again and again
      }
      if (connection.receiver().waits() && !connection.sendingEnded()) {
        String reason = connection.closing().failureOr(ENDED);
        node.severed(connection, reason, connection.endSending(reason));
      }
    } else {
      drop(connection, connection.closing().failureOr(ENDED));
    }
  }

  /**
   * Whether a connection that is being closed in order has nothing left to send or receive, or what
   * is left can never be sent. A node that closes also waits for what is on its way, and counts the
   * rest.
   */
  private boolean gone(Connection connection) {
    if (connection.link().outputLost() || (connection.link().severed() && !node.closing())) {
      return true;
    }
    return connection.sender().unconsumedBytes() == 0
        && (node.closing() || connection.closing().parted());
  }

  /** Closes a connection. On this thread. */
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
    connections = Arrays.copyOf(rest, count); // it may be missing, if add() has failed
    streams = anyStream;
    try {
      selector.selectNow(onReady); // deregisters the cancelled key
    } catch (IOException e) {
      events.internal("poller", e);
    }
    node.removed(connection, reason, lost);
  }
}
