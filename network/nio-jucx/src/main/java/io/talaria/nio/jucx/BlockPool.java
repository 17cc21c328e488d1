// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.util.ArrayDeque;

/**
 * Blocks that no endpoint has, for the next, in three sizes. Obeys its worker's rule of threads.
 */
final class BlockPool {
  /** What an idle connection costs. */
  static final int MIN_BYTES = 2 << 10;

  /** From one size to the next. */
  static final int STEP = 8;

  private static final int SIZES = 3;

  /** The largest. */
  static final int MAX_BYTES = MIN_BYTES * STEP * STEP;

  /** How many bytes of one size are kept. */
  private static final int KEPT_BYTES = 2 << 20;

  /**
   * For how long memory counts as short: the JVM collects garbage and waits half a second before it
   * says so.
   */
  private static final long SHORT_NS = 10_000_000_000L;

  @SuppressWarnings({"unchecked", "rawtypes"}) // arrays know no type arguments
  private final ArrayDeque<JucxBlock>[] free = new ArrayDeque[SIZES];

  private boolean memoryShort;
  private long shortSinceNs;

  BlockPool() {
    for (int i = 0; i < SIZES; i++) {
      free[i] = new ArrayDeque<>();
    }
  }

  private ArrayDeque<JucxBlock> of(int bytes) {
    return free[bytes == MIN_BYTES ? 0 : bytes == MAX_BYTES ? 2 : 1];
  }

  JucxBlock take(int bytes) {
    JucxBlock block = of(bytes).poll();
    return block == null ? new JucxBlock(bytes) : block;
  }

  /**
   * As {@link #take}, for an endpoint that can do without.
   *
   * @return null if memory is short
   */
  JucxBlock tryTake(int bytes) {
    JucxBlock block = of(bytes).poll();
    if (block != null || (memoryShort && System.nanoTime() - shortSinceNs < SHORT_NS)) {
      return block;
    }
    try {
      block = new JucxBlock(bytes);
      memoryShort = false;
    } catch (OutOfMemoryError e) {
      memoryShort = true;
      shortSinceNs = System.nanoTime();
    }
    return block;
  }

  void giveBack(JucxBlock block) {
    int bytes = block.bytes().capacity();
    ArrayDeque<JucxBlock> kept = of(bytes);
    if (kept.size() < KEPT_BYTES / bytes) {
      kept.push(block);
    }
  }
}
