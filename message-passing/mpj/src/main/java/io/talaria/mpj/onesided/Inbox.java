// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.Payload;
import io.talaria.mpj.device.RankGoneException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Queue;

/**
 * The receive of a window for messages of one rank, posted again after each: messages of a rank are
 * served in the order in which it sent them. One that has come whole puts itself into a queue. The
 * receive fails if the rank is gone, or the window was revoked.
 */
final class Inbox extends Payload {
  private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  final Window window;
  final int source;
  private final Queue<Inbox> ready;
  private final Operation receive = new Operation();
  private byte[] bytes;
  private int received;

  Inbox(Window window, int source, Queue<Inbox> ready) {
    this.window = window;
    this.source = source;
    this.ready = ready;
  }

  void post(Device device, int worldRank, int context) {
    bytes = null;
    received = 0;
    receive.receive(this, worldRank, Device.ANY_TAG, context);
    device.irecv(receive);
  }

  void withdraw(Device device) {
    device.cancel(receive);
  }

  /** What came. */
  byte[] content() {
    return bytes;
  }

  /** Why the rank is gone, or null. */
  RankGoneException gone() {
    return receive.done && receive.failure instanceof RankGoneException gone ? gone : null;
  }

  @Override
  public long bytes() {
    return MAX_BYTES;
  }

  @Override
  public int typeCode() {
    return PACKED;
  }

  @Override
  public void begin(long length) {
    bytes = new byte[(int) length];
  }

  @Override
  public void failed() {
    RankGoneException gone = gone();
    if (gone != null) {
      window.gone(source, gone);
    } else if (receive.failure instanceof CommunicationException why
        && why.kind() == Kind.REVOKED) {
      window.revoked(why);
    }
  }

  @Override
  public void get(long at, MemorySegment to, long toOffset, int length) {
    throw new IllegalStateException("a receive has nothing to send");
  }

  @Override
  public void put(long at, MemorySegment from, long fromOffset, int length) {
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, fromOffset, bytes, (int) at, length);
    received += length;
    if (received == bytes.length) {
      ready.add(this);
    }
  }
}
