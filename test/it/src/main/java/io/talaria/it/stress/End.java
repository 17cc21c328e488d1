// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * One end of a connection, with everything that may be done to it. Fields are guarded by its
 * monitor unless they are volatile; closing, waking and interrupting need no lock, and happen in
 * the middle of whatever others do.
 */
abstract class End implements Loop.Ready {
  private static final int LOOK_MS = 1;

  /** Who reads and writes when a selector has found the channel ready. */
  enum Style {
    /** The selector's thread. */
    LOOP,
    /** A worker, while the key has no interest; it sets the interest and wakes the selector. */
    WORKER,
    /** The same, but the interest is set by the selector's thread, which is woken to do so. */
    QUEUED
  }

  /** Where the channel is. */
  enum Phase {
    CONNECTING,
    /** Registered with selectors, or on its way from one to another. */
    SELECTED,
    /** Not blocking yet: its cancelled keys have to go first. */
    LEAVING,
    BLOCKING,
    ENDED
  }

  final Node node;
  final Random chance;
  final SocketChannel channel;
  final Style style;

  volatile Phase phase = Phase.CONNECTING;

  /** Names the connection in all processes; 0 as long as the answerer has not heard it. */
  volatile long id;

  /** When this side has ended it by close, shutdown or interrupt; 0 if it has not. */
  volatile long endedHereNs;

  /** Since when something must happen; 0 if nothing must. */
  volatile long awaitsSinceNs;

  /** What must happen, as text for the user. */
  volatile String awaits = "";

  /** Whether it has been told to be late. */
  volatile boolean late;

  private final List<SelectionKey> keys = new ArrayList<>(2);
  private final List<Loop> loops = new CopyOnWriteArrayList<>();

  /** All loops that it was ever with: a cancelled key stays until the next select there. */
  private final Set<Loop> visited = ConcurrentHashMap.newKeySet();

  private volatile Thread blocked;

  End(Node node, SocketChannel channel, long seed) {
    this.node = node;
    this.channel = channel;
    this.chance = new Random(seed);
    this.style = Style.values()[chance.nextInt(Style.values().length)];
  }

  // ---- what a role does

  /** Reads and writes what can be read and written; false at the end of the stream. */
  abstract boolean pump() throws IOException;

  /** What it waits for by selectors. */
  abstract int wanted();

  /** What it does as a blocking channel, before it comes back to selectors. */
  abstract void live(int requests) throws IOException;

  /** It is with selectors again. */
  void settled() {}

  /** The port it has connected to; 0 if it was accepted. */
  abstract int peerPort();

  /** It is over. */
  abstract void over();

  // ---- selectors

  @Override
  public void ready(SelectionKey key) {
    if (style == Style.LOOP || !key.isValid()) {
      serve();
      return;
    }
    synchronized (this) {
      key.interestOps(0);
    }
    node.work(this::serve);
  }

  /** Continues, on any thread. */
  final synchronized void serve() {
    if (phase != Phase.SELECTED) {
      return;
    }
    try {
      if (pump()) {
        arm();
        return;
      }
      sawEnd("end of stream");
    } catch (IOException e) {
      sawEnd(e.toString());
    }
    end();
  }

  private void arm() {
    if (style == Style.QUEUED) {
      for (Loop loop : loops) {
        loop.execute(this::setInterest);
      }
    } else {
      setInterest();
      for (Loop loop : loops) {
        if (!loop.here()) {
          loop.wakeup();
        }
      }
    }
  }

  private synchronized void setInterest() {
    if (phase == Phase.SELECTED) {
      for (SelectionKey key : keys) {
        try {
          key.interestOps(wanted());
        } catch (CancelledKeyException | ClosedSelectorException e) {
          continue; // by a close or with its selector: the code that did it continues by itself
        }
      }
    }
  }

  /** Registers with one selector or two; the channel is not blocking. */
  final synchronized void register() {
    if (phase == Phase.ENDED) {
      return;
    }
    phase = Phase.SELECTED;
    keys.clear();
    loops.clear();
    Loop first = node.anyLoop(chance);
    register(first);
    Loop second = node.anyLoop(chance);
    if (second != first && chance.nextInt(8) == 0) {
      register(second);
    }
    settled();
  }

  private synchronized void register(Loop loop) {
    if (phase != Phase.SELECTED) {
      return;
    }
    if (!loops.contains(loop)) {
      loops.add(loop);
    }
    visited.add(loop);
    try {
      SelectionKey key = channel.register(loop.selector(), wanted(), this);
      if (!keys.contains(key)) {
        keys.add(key);
      }
      loop.wakeup();
    } catch (CancelledKeyException e) {
      // Its former key there has not gone yet: the loop's next select removes it.
      loop.execute(() -> register(loop));
    } catch (ClosedSelectorException e) {
      loop.execute(() -> register(loop)); // there is a new one when this runs
    } catch (ClosedChannelException e) {
      end();
    }
  }

  /** The selector of a loop is gone, and a new one there. */
  synchronized void reregister(Loop loop) {
    if (phase == Phase.SELECTED && loops.contains(loop)) {
      keys.removeIf(key -> !key.isValid());
      register(loop);
    }
  }

  // ---- what others may do to it at any time

  /** Cancels all its keys and registers elsewhere, or at the same place once more. */
  final synchronized void move() {
    if (phase == Phase.SELECTED) {
      keys.forEach(SelectionKey::cancel);
      register();
    }
  }

  /** Switches the interest off, and on again later. */
  final void flick() {
    synchronized (this) {
      if (phase != Phase.SELECTED) {
        return;
      }
      for (SelectionKey key : keys) {
        try {
          key.interestOps(0);
        } catch (CancelledKeyException | ClosedSelectorException e) {
          continue;
        }
      }
    }
    node.later(chanceUs(), this::serve);
  }

  private int chanceUs() {
    return node.anyDelayUs();
  }

  /** Leaves its selectors and becomes blocking. */
  final void leave() {
    synchronized (this) {
      if (phase != Phase.SELECTED || !idle() || node.quiet()) {
        return;
      }
      phase = Phase.LEAVING;
      keys.forEach(SelectionKey::cancel);
      expect("cancelled keys go");
    }
    leaveOnceUnregistered();
  }

  /** Whether it is in the middle of nothing. */
  abstract boolean idle();

  private synchronized void leaveOnceUnregistered() {
    if (phase != Phase.LEAVING) {
      return;
    }
    if (!channel.isOpen()) {
      end();
      return;
    }
    if (channel.isRegistered()) {
      loops.forEach(Loop::wakeup);
      node.later(LOOK_MS * 1000, this::leaveOnceUnregistered);
      return;
    }
    try {
      channel.configureBlocking(true);
    } catch (IOException e) {
      end();
      return;
    }
    block();
  }

  /** Lives on a thread of its own, without selectors. */
  final synchronized void block() {
    phase = Phase.BLOCKING;
    blocked = node.thread("blocking", this::liveBlocking);
  }

  private void liveBlocking() throws IOException {
    try {
      live(1 + node.any(20));
    } catch (IOException e) {
      sawEnd(e.toString());
      end();
      return;
    }
    synchronized (this) {
      blocked = null;
      if (Thread.interrupted()) { // between two calls, and would have closed it in the next
        end();
      }
      if (phase == Phase.BLOCKING) {
        try {
          channel.configureBlocking(false);
        } catch (ClosedChannelException e) {
          end();
          return;
        }
        register();
      }
    }
  }

  /** Interrupts its thread, if it has one, which closes the channel. */
  final synchronized void interrupt() {
    if (blocked != null && endHere()) {
      expect("an interrupted call ends");
      blocked.interrupt();
    }
  }

  /** Its thread ends it, if it has one: the call in which that is must end. */
  private void endOrLetEnd() {
    synchronized (this) {
      if (blocked != null && phase == Phase.BLOCKING) {
        if (Thread.currentThread() != blocked) {
          expect("a call on a closed channel ends");
        }
        return;
      }
    }
    end();
  }

  final void close(boolean reset) {
    if (endHere()) {
      try {
        if (reset) {
          channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        channel.close();
        if (reset) { // until it has left all its selectors the JDK sends nothing
          visited.forEach(Loop::wakeup);
        }
      } catch (IOException e) {
        node.count("failedCloses"); // closed already
      } finally {
        endOrLetEnd();
      }
    }
  }

  final void shutdown(boolean output, boolean thenClose) {
    if (endHere()) {
      try {
        if (output) {
          channel.shutdownOutput();
        } else {
          channel.shutdownInput();
        }
        if (thenClose) {
          channel.close();
        }
      } catch (IOException | java.nio.channels.NotYetConnectedException e) {
        node.count("failedShutdowns"); // closed already, or reset
      } finally {
        if (thenClose) {
          endOrLetEnd();
        }
      }
    }
  }

  /**
   * From now on this side is why the connection ends; false if it cannot be said whose end it is.
   */
  final boolean endHere() {
    if (id == 0 || phase == Phase.CONNECTING) {
      return false;
    }
    node.ledger.ended(id);
    endedHereNs = System.nanoTime();
    return true;
  }

  // ---- its end

  private void sawEnd(String how) {
    if (endedHereNs == 0 && id != 0) {
      node.ledger.saw(id, peerPort(), how);
    }
  }

  /** The channel is of no more use. */
  final void end() {
    synchronized (this) {
      if (phase == Phase.ENDED) {
        return;
      }
      phase = Phase.ENDED;
      met();
    }
    try {
      channel.close();
    } catch (IOException e) {
      throw new IllegalStateException("close failed", e);
    }
    node.ended(this);
    over();
  }

  // ---- what must happen

  final void expect(String what) {
    if (late) {
      met();
    }
    awaits = what;
    awaitsSinceNs = System.nanoTime();
  }

  final void met() {
    awaitsSinceNs = 0;
    if (late) {
      late = false;
      node.recovered(this);
    }
  }

  @Override
  public String toString() {
    StringBuilder where = new StringBuilder();
    for (Loop loop : loops) {
      where.append(" loop-").append(loop.number);
    }
    return getClass().getSimpleName()
        + " "
        + Long.toHexString(id)
        + " "
        + style
        + " "
        + phase
        + where
        + " "
        + channel
        + " awaits "
        + awaits;
  }
}
