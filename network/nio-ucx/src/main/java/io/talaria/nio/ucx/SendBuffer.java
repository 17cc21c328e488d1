// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.nio.ByteBuffer;

/** Native memory from which UCX sends: the engine's, or lent to one send until UCX is done. */
final class SendBuffer {
  /** Up to here a send is a short call, see the ucx module. */
  static final int BYTES = 64 << 10;

  final Block block;
  final ByteBuffer bytes;

  /** How much of it is filled. */
  int length;

  /** The send under way. */
  long request;

  SendBuffer next;

  SendBuffer(UcxBinding binding) {
    block = binding.newBlock(BYTES);
    bytes = block.bytes();
  }

  int room() {
    return BYTES - length;
  }
}
