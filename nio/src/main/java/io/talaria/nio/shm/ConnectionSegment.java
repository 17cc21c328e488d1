// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Cuts a mapped segment into the parts that {@link ConnectionLayout} draws. */
final class ConnectionSegment {
  private ConnectionSegment() {}

  static ByteBuffer control(ByteBuffer segment) {
    return part(segment, 0, ConnectionLayout.CONTROL_BYTES);
  }

  static ByteBuffer firstRing(ByteBuffer segment, int ringBytes, int writerSide) {
    return part(segment, ConnectionLayout.CONTROL_BYTES + writerSide * ringBytes, ringBytes);
  }

  private static ByteBuffer part(ByteBuffer segment, int offset, int bytes) {
    return segment.slice(offset, bytes).order(ByteOrder.nativeOrder());
  }
}
