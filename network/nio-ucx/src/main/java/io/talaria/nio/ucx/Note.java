// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.UcxBinding;

/** A small message: see {@link UcxMessages}. */
final class Note {
  final Block block;

  /** The send or receive under way. */
  long request;

  /** By which it is being sent; else null. */
  Pipe pipe;

  Note(UcxBinding binding) {
    block = binding.newBlock(UcxMessages.NOTE_BYTES);
  }

  void set(int type, long value) {
    block.bytes().putLong(0, type);
    block.bytes().putLong(Long.BYTES, value);
  }

  /** -1 if it is no type at all. */
  int type() {
    long type = number();
    return type == (int) type ? (int) type : -1;
  }

  /** The first eight bytes, where they are no type. */
  long number() {
    return block.bytes().getLong(0);
  }

  long value() {
    return block.bytes().getLong(Long.BYTES);
  }
}
