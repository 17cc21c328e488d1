// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.verbs.QueuePair;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What happens at a node while one of its handshakes waits for the peer. */
@ExtendWith(Provider.class)
@Timeout(300)
class LateAnswerTest {
  private static NetOptions.Builder options(int connections) {
    return Pair.options().connections(connections);
  }

  @Test
  void aConnectionKeepsTheNumberThatItsHandshakeHasTaken() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    // The places of the send thread are used in turn: with 2 connections there are 8.
    try (Pair pair = new Pair(options(2), options(16), (c, m) -> seen.incrementAndGet());
        LateAnswer between = new LateAnswer(pair.address)) {
      CompletableFuture<Connection> made = between.connect(pair.left);
      for (int i = 0; i < 7; i++) {
        Connection shortLived = pair.connect((c, m) -> {});
        shortLived.close();
        CloseReason ignored = Pair.closed(shortLived);
      }
      Connection other = pair.connect((c, m) -> {});
      between.pass();
      Connection late = made.get(Pair.LIMIT_NS, TimeUnit.NANOSECONDS);
      for (int i = 0; i < 5; i++) {
        Pair.send(late, i, i);
        Pair.send(other, i, i);
      }
      Pair.await("all messages", () -> seen.get() == 10);
      Pair.await("all slices back", () -> pair.left.metrics().slicesOut() == 0);
    }
  }

  @Test
  void aConnectionWhoseDeviceIsLostDuringItsHandshakeIsClosed() throws Exception {
    try (Pair pair = new Pair(options(2), options(2), (c, m) -> {});
        LateAnswer between = new LateAnswer(pair.address)) {
      CompletableFuture<Connection> made = between.connect(pair.left);
      pair.left.lost("the test has lost it");
      between.pass();
      try {
        Connection late = made.get(Pair.LIMIT_NS, TimeUnit.NANOSECONDS);
        assertThat(late.isOpen()).isFalse();
        assertThat(Pair.closed(late))
            .isEqualTo(new CloseReason(CloseReason.Kind.DEVICE, "the test has lost it"));
      } catch (java.util.concurrent.ExecutionException e) {
        // It may be closed before the handshake is over.
        assertThat(e).hasRootCauseInstanceOf(java.io.IOException.class);
      }
      Pair.await("its end", () -> pair.left.metrics().connections() == 0);
    }
  }

  @Test
  void aConnectionThatCannotBeMadeGivesItsQueuePairAndPlaceBack() throws Exception {
    try (Pair pair = new Pair(options(1), options(1), (c, m) -> {});
        SocketChannel channel = SocketChannel.open()) {
      VerbsNode.Setup setup = pair.left.setUp(QueuePair.Builder::open);
      // Without a peer its constructor throws where it might be short of memory.
      assertThatThrownBy(() -> pair.left.join(setup, null, channel, (c, m) -> {}))
          .isInstanceOf(NullPointerException.class);
      assertThat(setup.queuePair().isOpen()).isFalse();
      assertThat(pair.left.metrics().connections()).isZero();
      assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
    }
  }

  @Test
  void aThreadThatIsInterruptedSaysSo() throws Exception {
    try (Pair pair = new Pair(options(2), options(2), (c, m) -> {})) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .isInstanceOf(ExchangeException.class)
          .hasMessage("interrupted");
      assertThat(Thread.interrupted()).isTrue();
      assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
    }
  }
}
