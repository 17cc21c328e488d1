// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.records.Records;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The closing of a connection: in order, when both ends have said GOODBYE and delivered everything,
 * or because of a failure, of which it keeps the first reason. Any thread, unless a method says
 * otherwise. {@link Connection#end} ends the connection in both cases.
 */
public final class Closing {
  private static final VarHandle POSITION =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Connection connection;

  /** The position behind the data ring's last record; -1 until the other end's GOODBYE says it. */
  private volatile long endThere = -1;

  private final AtomicBoolean toldEnd = new AtomicBoolean();
  private volatile String failure;

  /** Whether one of the ends has sent GOODBYE. */
  public volatile boolean leaving;

  Closing(Connection connection) {
    this.connection = connection;
  }

  /** Sends no more messages and requests on the connection; threads that wait to do so go on. */
  public void sealMessages() {
    connection.sender().sealData();
    connection.sender().wake();
  }

  /**
   * Agrees to close the connection: tells where the data ring ends, which is sealed. Call when no
   * response is expected any more, because the other end may then stop sending. Tells it once, also
   * if this node closes while the connection leaves: once told, the other end may end, too.
   */
  public void tellEnd() {
    if (!toldEnd.compareAndSet(false, true)) {
      return;
    }
    byte[] end = new byte[Long.BYTES];
    POSITION.set(end, 0, connection.sender().end());
    connection.control(Records.GOODBYE, 0, 0, end);
  }

  /** Whether the other end has agreed to close the connection. */
  public boolean agreedThere() {
    return endThere != -1;
  }

  /**
   * Whether the other end has told where its messages end, and all of them were taken from the
   * ring. Poller.
   */
  public boolean cameWhole() {
    try {
      return agreedThere() && connection.link().in(RingPair.DATA).position() == endThere;
    } catch (IllegalStateException e) {
      return false; // unmapped
    }
  }

  /** GOODBYE has come. Holder of the control ring's receiver. */
  void goodbye(MemorySegment memory, long at, int bytes) {
    if (bytes == Long.BYTES) {
      endThere = memory.get(ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN), at);
    } else if (bytes != 0) {
      throw new RingBrokenException("a GOODBYE of " + bytes + " bytes");
    }
  }

  /** Whether both ends have delivered all messages, and this end knows that. */
  public boolean parted() {
    Sender sender = connection.sender();
    try {
      return sender.unconsumedBytes() == 0
          && sender.allDelivered()
          && connection.link().in(RingPair.DATA).delivered() == endThere;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /** Keeps the reason why the connection ends, if it is the first. */
  void because(String reason) {
    if (failure == null) {
      failure = reason;
    }
  }

  /** The reason why the connection ends, or this one if none is known. */
  String failureOr(String reason) {
    String why = failure;
    return why == null ? reason : why;
  }

  /** The reason why the connection ends, for an error text. */
  String failure() {
    return failureOr("the connection to node " + connection.peer.id() + " has ended");
  }
}
