// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import java.util.Arrays;

/**
 * A few bytes and a message from one worker to another of this process, to find out whether this
 * JUCX and this UCX understand each other.
 */
final class LoopBack {
  private static final int BYTES = 16;
  private static final long WORD = 0x0123456789abcdefL;
  private static final long TAG = 0xfedcba9876543210L;
  private static final long LIMIT_NS = 5_000_000_000L;

  private LoopBack() {}

  /**
   * Sends and receives.
   *
   * @throws BindingException if that fails, or something else arrives
   */
  static void check(JucxContext context) {
    try (JucxWorker from = context.openWorker();
        JucxWorker to = context.openWorker()) {
      from.enter();
      to.enter();
      try {
        BoundEndpoint there = from.connect(to.address(), from);
        BoundEndpoint back = to.connect(from.address(), to);
        exchange(from, there, to, back);
      } finally {
        to.exit();
        from.exit();
      }
    }
  }

  private static void exchange(
      JucxWorker from, BoundEndpoint there, JucxWorker to, BoundEndpoint back) {
    JucxBlock sent = new JucxBlock(BYTES);
    sent.bytes().putLong(0, WORD).putLong(Long.BYTES, ~WORD);
    must(there.sendStream(sent, BYTES), "a stream's send");
    must(there.sendTag(sent, BYTES, TAG), "a message's send");
    byte[] got = new byte[BYTES];
    int bytes = 0;
    boolean message = false;
    JucxReceived place = new JucxReceived();
    Object[] named = new Object[BoundWorker.MAX_READY];
    long start = System.nanoTime();
    while (bytes < BYTES || !message) {
      from.progress();
      to.progress();
      int count = to.pollStreams(named);
      for (int i = 0; i < count; i++) {
        int length = (int) back.receiveStream(place);
        must(length, "a stream's receive");
        if (length > 0) {
          place.copyTo(0, got, bytes, Math.min(length, BYTES - bytes));
          bytes += length;
          place.release();
        }
      }
      message = message || receives(to);
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new BindingException(
            "of 16 bytes and a message, " + bytes + " and " + (message ? 1 : 0) + " arrived", null);
      }
    }
    byte[] wanted = new byte[BYTES];
    sent.bytes().get(0, wanted);
    if (bytes != BYTES || !Arrays.equals(got, wanted)) {
      throw new BindingException("other bytes arrive than were sent", null);
    }
  }

  private static boolean receives(JucxWorker to) {
    if (!to.hasMessage()) {
      return false;
    }
    JucxBlock block = new JucxBlock(BYTES);
    long request = to.receiveTag(block, BYTES);
    must(request, "a message's receive");
    long start = System.nanoTime();
    while (to.status(request) == BoundWorker.IN_PROGRESS) {
      to.progress();
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new BindingException("a message does not end", null);
      }
    }
    must(to.status(request), "a message's receive");
    long tag = to.receivedTag(request);
    long length = to.receivedBytes(request);
    to.release(request);
    if (tag != TAG || length != BYTES || block.bytes().getLong(0) != WORD) {
      throw new BindingException(
          "a message of "
              + BYTES
              + " bytes and tag "
              + Long.toHexString(TAG)
              + " arrives as one of "
              + length
              + " and "
              + Long.toHexString(tag),
          null);
    }
    return true;
  }

  private static void must(long answer, String what) {
    if (answer < 0) {
      throw new BindingException(what + " fails with status " + answer, null);
    }
  }
}
