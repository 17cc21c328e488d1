// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkProbe;
import io.talaria.nio.jdk.JdkTtl;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * What the control connection carries once a connection is accelerated: doorbells out, doorbells
 * in, and its end, which is the truth about the peer's life.
 */
final class ControlLink {
  static final int DOORBELLS_AT_ONCE = 64;

  /** A peer that rings faster than we read must not keep us here: the rest is read next time. */
  private static final int MAX_DOORBELL_READS = 1024;

  private final ConnectionPath connectionPath;
  private final SocketChannel control;
  private final ConnectionCounters counters;

  /** Under the connection path's out lock. */
  private final ByteBuffer doorbell = ByteBuffer.allocate(1);

  private final Object doorbellsLock = new Object();
  private ByteBuffer doorbellsIn;

  private volatile boolean ended;
  private volatile boolean endedByReset;

  /** It has ended while the transport expected more, so that how the input ends is not known. */
  private volatile boolean unsettled;

  /** Whether it reads as ended because the channel closes. */
  private volatile boolean inputShut;

  ControlLink(ConnectionPath connectionPath, SocketChannel control, ConnectionCounters counters) {
    this.connectionPath = connectionPath;
    this.control = control;
    this.counters = counters;
  }

  /** Whether it has ended, at the peer's side: nothing more comes by it. */
  boolean ended() {
    return ended;
  }

  /** Whether it had ended while the transport expected more, when {@link #end} was last asked. */
  boolean unsettled() {
    return unsettled;
  }

  /** Whether it has ended, and the transport neither brings nor takes more either. */
  boolean over() {
    TransportStream fast = connectionPath.stream();
    return ended && !fast.expectsMore() && !fast.outputGoesOn();
  }

  /**
   * Writes a doorbell. Under the out lock, and after the output's switch.
   *
   * @return whether the peer will find one
   */
  boolean ring() {
    doorbell.clear();
    try {
      // If the buffer is full the peer has plenty to read, and looks at the ring then.
      if (control.write(doorbell) > 0) {
        counters.wakeupSent();
      }
      return true;
    } catch (IOException e) {
      return false; // the peer is gone or we are closing; reading the control connection tells
    }
  }

  /**
   * Takes the doorbells that are there, and notices the end. Any thread, once the input has
   * switched.
   *
   * @param all whether to look for an end behind the doorbells too; else the control connection
   *     stays readable until that is seen
   * @return whether there were doorbells: a caller that is not the one to be woken passes them on
   */
  boolean drain(boolean all) {
    boolean rung = false;
    synchronized (doorbellsLock) {
      if (doorbellsIn == null) {
        doorbellsIn = ByteBuffer.allocate(DOORBELLS_AT_ONCE);
      }
      try {
        int n;
        int reads = 0;
        do {
          doorbellsIn.clear();
          n = control.read(doorbellsIn);
          if (n > 0) {
            rung = true;
            counters.wakeupReceived();
          }
        } while ((n == DOORBELLS_AT_ONCE || (all && n > 0)) && ++reads < MAX_DOORBELL_READS);
        if (n < 0) {
          end(false);
        }
      } catch (IOException e) {
        end(control.isOpen());
      }
    }
    return rung;
  }

  /**
   * Tells the transport that the control connection has ended.
   *
   * @return whether that means a reset
   */
  boolean end(boolean byReset) {
    boolean ownEnd =
        inputShut && !byReset && connectionPath.stream().wakesByItself(); // looks like a peer's
    if ((!ended || unsettled) && !ownEnd) {
      // A doorbell that the peer has not read makes its kernel send a reset, which means nothing.
      endAs(byReset && !connectionPath.output().peerLacksDoorbellsOnly());
    }
    return endedByReset;
  }

  /**
   * Tells the transport of a reset that counts whatever doorbells the peer may have lacked: one
   * that came while bytes of the program were still to come on TCP, which reads tell, or one that
   * is assumed because TCP does not say how a lost peer ended.
   */
  void endByReset() {
    if (!ended || unsettled) {
      endAs(true);
    }
  }

  private void endAs(boolean byReset) {
    TransportStream fast = connectionPath.stream();
    fast.controlEnded(byReset);
    unsettled = fast.expectsMore();
    endedByReset = fast.controlEnded(byReset); // if it expects no more, that is its last word
    ended = true;
    connectionPath.waiter().wakeAll();
  }

  /** How many bytes TCP has that were not read. Any thread. */
  int available() throws IOException {
    return control.socket().getInputStream().available();
  }

  /** Whether TCP is over, as the kernel sees it: reset, or ended in both directions. */
  synchronized boolean tcpOver() { // not beside a close, which would be put off by the look
    return JdkProbe.over(control);
  }

  /** Whether the peer has ended its output on TCP, or TCP is over, as the kernel sees it. */
  synchronized boolean tcpInputOver() { // not beside a close either
    return JdkProbe.inputOver(control);
  }

  /** The time to live of the packet by which the client has completed the connection. */
  synchronized int receivedTtl() { // not beside a close either
    return control.isOpen() ? JdkTtl.received(control) : JdkTtl.UNKNOWN;
  }

  /**
   * The channel closes: a thread that reads must return. The output stays as it is: an end of it
   * would come before the reset that a close with unread bytes, or a linger of 0, makes of the end.
   */
  void shutInput() {
    inputShut = true;
    try {
      control.shutdownInput();
    } catch (IOException | RuntimeException e) {
      // It has ended already, which wakes them too.
    }
  }

  /** A close that follows does not wait for a linger time that the program has set. */
  void forgetLinger() {
    try {
      control.setOption(StandardSocketOptions.SO_LINGER, -1);
    } catch (IOException e) {
      // It has ended already.
    }
  }

  /** The output ends on TCP. */
  void shutOutput() {
    try {
      control.shutdownOutput();
    } catch (IOException e) {
      // It has ended already.
    }
  }

  /**
   * Closes it.
   *
   * @param byReset whether by a reset whatever the peer has yet to take, so that its port is free
   */
  synchronized void close(boolean byReset) {
    try {
      if (byReset) {
        control.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
    } catch (IOException e) {
      // It has ended already.
    }
    try {
      control.close();
    } catch (IOException e) {
      // The descriptor is free all the same.
    }
  }
}
