// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Native memory from which UCX sends: the engine's, or lent to one send until UCX is done. */
final class SendBuffer {
  /** Up to here a send is a short call, see the ucx module. */
  static final int BYTES = 64 << 10;

  final MemorySegment memory = Arena.ofAuto().allocate(BYTES, 64);
  final ByteBuffer bytes = memory.asByteBuffer();

  /** How much of it is filled. */
  int length;

  /** The send under way. */
  long request;

  SendBuffer next;

  int room() {
    return BYTES - length;
  }
}
