// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.codec.SegmentIn;
import io.talaria.messaging.codec.SegmentOut;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What a thread needs to send and to read, made once. */
final class ThreadContext {
  private static final int KEPT_BYTES = 1 << 20;
  private static final ThreadLocal<ThreadContext> CURRENT =
      ThreadLocal.withInitial(ThreadContext::new);

  final SegmentOut out = new SegmentOut();
  final SegmentIn in = new SegmentIn();
  final RecordHead head = new RecordHead();

  /** The question about to be sent is waited for: take the inlet before it is shown. */
  boolean wantsToLead;

  /** That was done. */
  boolean leads;

  /** In a codec: nothing may be sent. */
  boolean inCodec;

  /** On a poller, in an INLINE receiver or not: nothing may wait. */
  boolean poller;

  private MemorySegment scratch = MemorySegment.NULL;

  static ThreadContext current() {
    return CURRENT.get();
  }

  MemorySegment scratch(int bytes) {
    if (scratch.byteSize() < bytes) {
      long rounded = Math.max(4096, (long) Integer.highestOneBit(bytes) << 1);
      scratch = Arena.ofAuto().allocate(rounded, 8);
    }
    return scratch;
  }

  /** After use: what was large is not kept. */
  void scratchUsed() {
    if (scratch.byteSize() > KEPT_BYTES) {
      scratch = MemorySegment.NULL;
    }
  }

  void mustNotBeInCodec() {
    if (inCodec) {
      throw new IllegalStateException(
          "a codec must not send, ask or answer: do that before or after");
    }
  }

  void mayWait() {
    mustNotBeInCodec();
    if (poller) {
      throw new IllegalStateException(
          "an INLINE receiver or a listener must not wait: use trySend, or another Dispatch");
    }
  }
}
