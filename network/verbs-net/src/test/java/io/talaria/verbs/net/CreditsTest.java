// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What each asserts at its end, too: the provider saw no message without a receive request. */
@ExtendWith(Provider.class)
@Timeout(300)
class CreditsTest {
  private static final int WINDOW = 4;

  @Test
  void aBlockedHandlerStopsItsPeerAndNobodyElse() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger blocked = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    ConnectionHandler handler =
        (c, m) -> {
          if (m.longAt(0) == 1) {
            blocked.incrementAndGet();
            awaitLatch(goOn);
          }
          seen.incrementAndGet();
        };
    // Two receive threads: the least loaded one is taken, so each connection has its own.
    try (Pair pair =
        new Pair(
            Pair.options().window(WINDOW),
            Pair.options().window(WINDOW).receiveThreads(2),
            handler)) {
      Connection first = pair.connect((c, m) -> {});
      Connection second = pair.connect((c, m) -> {});
      Pair.send(first, 1, 0);
      Pair.await("the block", () -> blocked.get() == 1);
      int sent = sendUntilRefused(first);
      // The one in the handler was posted again before, but its credit is told from half a window
      // on.
      assertThat(sent).isBetween(WINDOW - 1, 2 * WINDOW);
      for (int i = 0; i < 10 * WINDOW; i++) {
        Pair.send(second, 2, 0);
      }
      Pair.await("the other's messages", () -> seen.get() == 10 * WINDOW);
      assertThat(pair.left.metrics().creditStalls()).isPositive();
      goOn.countDown();
      Pair.await("the rest", () -> seen.get() == 10 * WINDOW + sent + 1);
      Pair.send(first, 2, 0);
      Pair.await("one more", () -> seen.get() == 10 * WINDOW + sent + 2);
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How many messages are taken until the peer has no room for a while. */
  private static int sendUntilRefused(Connection connection) throws Exception {
    int sent = 0;
    while (true) {
      Slice slice = connection.awaitSlice(Pair.LIMIT_NS);
      if (connection.send(slice, 16) == Connection.SENT) {
        sent++;
      } else {
        slice.release();
        if (!connection.awaitSpace(200_000_000L)) {
          return sent;
        }
      }
    }
  }

  /** The same, until the other side lacks slices, and was not only slow for a while. */
  private static int sendUntilSlicesAreMissing(Pair pair, Connection connection) throws Exception {
    long endNs = System.nanoTime() + Pair.LIMIT_NS;
    int sent = 0;
    do {
      sent += sendUntilRefused(connection);
    } while (pair.right.metrics().lateRefills() == 0 && System.nanoTime() - endNs < 0);
    return sent;
  }

  @Test
  void messagesThatAreKeptHoldTheirCreditBack() throws Exception {
    List<Message> kept = new ArrayList<>();
    AtomicInteger seen = new AtomicInteger();
    ConnectionHandler handler =
        (c, m) -> {
          m.keep();
          synchronized (kept) {
            kept.add(m);
          }
          seen.incrementAndGet();
        };
    try (Pair pair = new Pair(Pair.options().connections(1).window(WINDOW), handler)) {
      Connection connection = pair.connect((c, m) -> {});
      int sent = sendUntilSlicesAreMissing(pair, connection);
      int slices = 2 * (WINDOW + VerbsNode.CREDIT_SLOTS);
      assertThat(sent).isBetween(slices - WINDOW - VerbsNode.CREDIT_SLOTS, slices);
      Pair.await("all", () -> seen.get() == sent);
      assertThat(pair.right.metrics().lateRefills()).isPositive();
      int more = 5 * sent;
      Thread releasing =
          Thread.ofVirtual()
              .start(
                  () -> {
                    while (seen.get() < sent + more) {
                      releaseAll(kept);
                      Thread.yield();
                    }
                  });
      for (int i = 0; i < more; i++) {
        Pair.send(connection, i, 0);
      }
      Pair.await("all that was kept", () -> seen.get() == sent + more);
      releasing.join();
      releaseAll(kept);
    }
  }

  private static void releaseAll(List<Message> kept) {
    List<Message> all;
    synchronized (kept) {
      all = List.copyOf(kept);
      kept.clear();
    }
    all.forEach(Message::release);
  }

  @Test
  void bothSidesMaySendAsMuchAsTheyCanAtOnce() throws Exception {
    int messages = Provider.isDevice() ? 200 : 10_000;
    AtomicLong left = new AtomicLong();
    AtomicLong right = new AtomicLong();
    List<Connection> accepted = new CopyOnWriteArrayList<>();
    ConnectionHandler server =
        new ConnectionHandler() {
          @Override
          public void connected(Connection connection) {
            accepted.add(connection);
          }

          @Override
          public void message(Connection connection, Message message) {
            right.incrementAndGet();
          }
        };
    try (Pair pair = new Pair(Pair.options().window(1), server)) {
      Connection connection = pair.connect((c, m) -> left.incrementAndGet());
      Pair.await("the other end", () -> accepted.size() == 1);
      Connection other = accepted.getFirst();
      Thread back =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < messages; i++) {
                        Pair.send(other, i, 0);
                      }
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  });
      for (int i = 0; i < messages; i++) {
        Pair.send(connection, i, 0);
      }
      back.join();
      Pair.await("all there", () -> right.get() == messages);
      Pair.await("all here", () -> left.get() == messages);
    }
  }
}
