// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.context.Context;
import io.talaria.nio.control.ControlWaiter;
import io.talaria.nio.control.TcpOutput;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.function.BooleanSupplier;

/**
 * The output of a connection: which transport it takes, the switch from TCP to the transport,
 * doorbells, and how it ends.
 *
 * <pre>
 *   {@link TcpOutput} ──both readers have accepted──▶ {@link TransportOutput}
 * </pre>
 *
 * <p><b>Locks.</b> The channel's write lock ensures that one thread writes at a time. A thread
 * holds the {@linkplain #lock() out lock} while it writes to TCP, switches, rings, or says that the
 * output ends: no thread may come between another's look at the phase and what that one does then.
 * A write to the transport needs the write lock only. The phase itself is {@link
 * ConnectionPath#transportOutput}: null while on TCP, changed under the out lock, once, and looked
 * at by any thread.
 */
final class PathOutput {
  private final Context context;
  private final ConnectionPath connectionPath;
  private final TalariaSocketChannel channel;
  private final SocketChannel control;
  private final ConnectionCounters counters;

  /** After the write lock, before the channel's state lock. */
  private final Object lock = new Object();

  /** Written to under the out lock. */
  private final TcpOutput tcp;

  /** How often the peer had woken this side when the writer last looked. Under the write lock. */
  private int knownWakes;

  PathOutput(
      Context context,
      ConnectionPath connectionPath,
      TalariaSocketChannel channel,
      ConnectionCounters counters) {
    this.context = context;
    this.connectionPath = connectionPath;
    this.channel = channel;
    this.counters = counters;
    control = channel.control();
    tcp = new TcpOutput(control, counters, connectionPath.upgrade().earning());
  }

  /** The out lock. */
  Object lock() {
    return lock;
  }

  /** Whether it is on the transport. Any thread. */
  private boolean switched() {
    return connectionPath.transportOutput() != null;
  }

  // ---- writing: under the write lock

  /** Writes as much as there is room for, while the output was last seen on TCP. */
  int writeBeforeTransport(ByteBuffer src) throws IOException {
    synchronized (lock) {
      if (staysOnTcp()) {
        try {
          return tcp.write(src);
        } catch (IOException e) {
          throw connectionPath.input().failedOnTcp(e);
        }
      }
    }
    return connectionPath.transportOutput().write(src);
  }

  /** Gathers as much as there is room for, while the output was last seen on TCP. */
  long writeBeforeTransport(ByteBuffer[] srcs, int offset, int length) throws IOException {
    synchronized (lock) {
      if (staysOnTcp()) {
        try {
          return tcp.write(srcs, offset, length);
        } catch (IOException e) {
          throw connectionPath.input().failedOnTcp(e);
        }
      }
    }
    return connectionPath.transportOutput().write(srcs, offset, length);
  }

  /** Sleeps until there may be room, or something has happened to the connection. */
  void sleep() throws IOException {
    knownWakes = connectionPath.wakes();
    if (!switched()) {
      connectionPath.waiter().sleep(ControlWaiter.WRITER, JdkNio.WRITABLE, 0);
      return;
    }
    connectionPath.transportSleep().sleep(TransportStream.WRITE, 0);
  }

  /**
   * Whether a writer about to sleep has nothing to wait for. Asked by itself.
   *
   * @param event what it is about to wait for, which is room on TCP or news of the transport
   */
  boolean nothingToWaitFor(int event) {
    boolean onTcp = event == JdkNio.WRITABLE;
    return channel.outputEnding()
        || connectionPath.wakes() != knownWakes
        || onTcp == switched()
        || (!onTcp
            && (connectionPath.link().over()
                || connectionPath.transportSleep().over(TransportStream.WRITE)));
  }

  // ---- the switch: under the out lock

  /** Lets the output switch as soon as both sides have agreed. Any thread, without the lock. */
  void switchIfEstablished() {
    TransportStream fast = connectionPath.stream();
    if (!switched() && fast != null && fast.established()) {
      synchronized (lock) {
        if (!switched()) {
          switchNow();
        }
      }
    }
  }

  /** Switches if both sides have agreed. */
  private boolean staysOnTcp() {
    assert Thread.holdsLock(lock);
    if (!switched()) {
      TransportStream fast = connectionPath.stream();
      if (fast == null) {
        return true;
      }
      if (!fast.established()) {
        connectionPath.upgrade().noteWithdrawal();
        return true;
      }
      switchNow();
    }
    return false;
  }

  private void switchNow() {
    assert Thread.holdsLock(lock);
    TransportStream fast = connectionPath.stream();
    fast.switchOut(tcp.writtenBytes());
    connectionPath.writesTo(
        new TransportOutput(fast, counters, new Spinner(context.spinning()), channel));
    connectionPath.waiter().wake(ControlWaiter.WRITER); // it may wait for room on TCP
    connectionPath.upgrade().showFast();
    connectionPath.nudgeSelectors();
  }

  // ---- what the peer has of it: any thread

  /** How many bytes the program's writes have put on TCP; final once the output has switched. */
  long tcpBytes() {
    return tcp.writtenBytes();
  }

  /** Whether nothing but doorbells of ours can be unread at the peer. */
  boolean peerLacksDoorbellsOnly() {
    TransportStream fast = connectionPath.stream();
    return switched() && (fast.peerInputSwitched() || fast.peerInputTaken() == tcp.writtenBytes());
  }

  // ---- doorbells

  /**
   * Wakes the peer's sleeper: see {@link io.talaria.nio.transport.StreamOwner#ring}. Any thread.
   */
  boolean ring() {
    synchronized (lock) {
      TransportStream fast = connectionPath.stream();
      if (!switched()) {
        if (fast == null || !fast.established()) {
          return false;
        }
        switchNow();
      }
      ControlLink link = connectionPath.link();
      if (link.ended() || connectionPath.upgrade().peerAbandoned()) {
        return false;
      }
      if (connectionPath.input().bytesMayBeOnTcp()) {
        fast.wakePeerBySession();
        return true;
      }
      return link.ring();
    }
  }

  // ---- ending: any thread

  /** The output has been shut down: wakes those that wait for it to be writable, to see that. */
  void wakeWriter() {
    connectionPath.waiter().wake(ControlWaiter.WRITER);
    connectionPath.nudgeSelectors();
  }

  /**
   * Shuts the output down on TCP, or decides that it ends on the transport.
   *
   * @param mark forbids further writes; true if they were forbidden already
   * @return true if {@link #finish} is to follow, once no writer is inside
   */
  boolean shutdown(BooleanSupplier mark) throws IOException {
    synchronized (lock) {
      if (mark.getAsBoolean()) {
        return false;
      }
      if (endsOnTcp()) {
        control.shutdownOutput();
        return false;
      }
      return true;
    }
  }

  /** Whether the output ends on TCP; else it has switched. */
  private boolean endsOnTcp() {
    assert Thread.holdsLock(lock);
    TransportStream fast = connectionPath.stream();
    if (!switched() && fast != null && !connectionPath.upgrade().withdraw(fast)) {
      switchNow();
    }
    return !switched();
  }

  /**
   * Writes on the transport that no more bytes come. What writes have taken must come before that.
   */
  void finish() {
    synchronized (lock) {
      if (connectionPath
          .ending()
          .isUnpublished()) { // else a close has been faster, and the stream may be gone
        connectionPath.stream().finishOutput();
      }
    }
    abandonIfBothAreShut();
  }

  /**
   * Tells the peer that no program reads its bytes once both directions are shut down on the
   * transport: the kernel answers data with a reset then. To be called after each of the two.
   */
  void abandonIfBothAreShut() {
    if (channel.inputClosed() && channel.outputEnding()) {
      synchronized (lock) {
        if (connectionPath.ending().isUnpublished() && switched()) {
          connectionPath.stream().abandonInput(false);
        }
      }
    }
  }

  /** Whether {@link #end} is still to be called, and has something to write. */
  boolean endsAccelerated() {
    synchronized (lock) {
      return connectionPath.ending().isUnpublished() && !endsOnTcp();
    }
  }

  /**
   * Ends the output alone, at the close of a channel that a selector still has, as the JDK does:
   * {@link #end} follows when the last selector has let go of it, and decides what becomes of the
   * input. With a linger of 0 nothing is said until then, but whether the end is TCP's. A linger
   * time is forgotten, as on the JDK, because it is a select that closes the control connection.
   * What writes have taken must stand before. Idempotent.
   */
  void endHalf() {
    synchronized (lock) {
      if (connectionPath.ending().isUnpublished()) {
        boolean onTcp = endsOnTcp();
        if (!channel.options().lingerZero()) {
          connectionPath.link().forgetLinger();
          if (onTcp) {
            connectionPath.link().shutOutput();
          } else {
            connectionPath.stream().finishOutput();
          }
        }
      }
    }
    if (!channel.options().lingerZero()) {
      abandonIfBothAreShut();
    }
  }

  /**
   * Writes on the transport how this side ends, before the control connection does; only once. What
   * writes have taken must stand before. An end of the output that is already published stays what
   * the peer reads; that its bytes were left unread is published nevertheless. From then on no
   * thread takes bytes from TCP, so that what is found unread here, or by the kernel, stays so.
   */
  void end() {
    synchronized (lock) {
      if (connectionPath.ending().publish()) {
        boolean onTcp = endsOnTcp();
        boolean reset =
            channel.options().lingerZero()
                || connectionPath.input().unreadBesideTcp()
                || (!onTcp && connectionPath.input().unreadTcp()); // else the kernel resets
        if (reset) {
          connectionPath.ending().byReset();
        }
        if (onTcp) {
          return;
        }
        TransportStream fast = connectionPath.stream();
        fast.abandonInput(reset);
        if (reset) {
          fast.abort();
        } else {
          fast.finishOutput();
        }
      }
    }
  }
}
