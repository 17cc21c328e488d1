// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** What a thread that sends has come to, and what it must hold back. */
final class SenderState {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** So often, a millisecond apart, a thread must be seen waiting. */
  private static final int CALM_LOOKS = 200;

  /** A ring that is about to grow is as full for a moment only. */
  private static final int FULL_BYTES = 8 << 10;

  private SenderState() {}

  /**
   * Returns once a thread waits for room in a ring that is full and grows no more.
   *
   * <p>A thread that waits is not woken before there is room for two of the largest records. If a
   * transport frees less than that after the ring was full, such as one frame, the thread waits
   * beside free room. This method fills that room.
   *
   * @param sending the thread, which sends to the peer
   * @param sent how much it has sent
   * @param filler a message of less than half of {@link #FULL_BYTES}
   */
  static void awaitWaiting(Thread sending, AtomicLong sent, Peer peer, Object filler)
      throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    long before = -1;
    for (int calm = 0; calm < CALM_LOOKS; ) {
      assertThat(sending.isAlive()).as("the sender waits").isTrue();
      assertThat(peer.connected()).as("it waits for room, not for a connection").isTrue();
      assertThat(System.nanoTime())
          .as("%s sent, room %d", sent, peer.freeBytes())
          .isLessThan(deadline);
      boolean waits = sending.getState() == Thread.State.TIMED_WAITING;
      boolean full = peer.freeBytes() <= FULL_BYTES;
      if (waits && !full) {
        long ignored = peer.trySend(filler);
      }
      calm = waits && full && sent.get() == before ? calm + 1 : 0;
      before = sent.get();
      Thread.sleep(1);
    }
  }

  /** Whether a node has been told to hold back messages for a receiver of a peer. */
  static boolean heldBack(Node node, int peer, Object message) {
    LocalNode sender = (LocalNode) node;
    int receiver = Records.what(sender.types().of(message).index, Records.MESSAGE);
    return sender.remote(peer).connection().holds().heldBack(receiver);
  }
}
