// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Writing into the peer's memory. For a round trip the last byte counts up; the peer looks at its
 * own memory until it has come, and writes back, as {@code ucx_perftest} does.
 */
final class PutExercise extends Exercise {
  private static final VarHandle BYTE = JAVA_BYTE.varHandle();

  /** How often a server looks before it follows other orders. */
  private static final int LOOKS = 4_096;

  private final Kind kind;
  private final Window window;
  private final MemorySegment out;
  private final MemorySegment in;
  private final long last;
  private byte sequence;

  PutExercise(Side side, Kind kind, int sizeBytes) {
    super(side, sizeBytes);
    this.kind = kind;
    window = new Window(side);
    out = side.out();
    in = side.in();
    last = sizeBytes - 1L;
  }

  private long put() {
    return side.remote().put(out, 0, sizeBytes, 0, 0);
  }

  private long putNext() {
    sequence++;
    out.set(JAVA_BYTE, last, sequence);
    return put();
  }

  private boolean hasCome(byte expected) {
    return (byte) BYTE.getOpaque(in, last) == expected;
  }

  @Override
  void once() {
    long sent = putNext();
    while (!hasCome(sequence)) {
      side.look();
    }
    side.finish(sent);
    add(1);
  }

  @Override
  void many(int operations) {
    for (int i = 0; i < operations; i++) {
      window.add(put());
    }
    window.drain();
    add(operations);
  }

  @Override
  void follow() {
    if (kind == Kind.THROUGHPUT) {
      side.spin();
      return;
    }
    for (int i = 0; i < LOOKS; i++) {
      if (hasCome((byte) (sequence + 1))) {
        side.finish(putNext());
        add(1);
      } else {
        side.look();
      }
    }
  }

  @Override
  long expected() {
    return kind == Kind.LATENCY ? count() : 0;
  }
}
