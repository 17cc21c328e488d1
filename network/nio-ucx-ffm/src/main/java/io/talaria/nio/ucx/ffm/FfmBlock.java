// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.ffm;

import io.talaria.nio.ucx.binding.Block;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory as a segment, which the collector frees. */
final class FfmBlock extends Block {
  private static final long ALIGNMENT = 64;

  final MemorySegment memory;

  FfmBlock(int bytes) {
    this(Arena.ofAuto().allocate(bytes, ALIGNMENT));
  }

  private FfmBlock(MemorySegment memory) {
    super(memory.asByteBuffer());
    this.memory = memory;
  }
}
