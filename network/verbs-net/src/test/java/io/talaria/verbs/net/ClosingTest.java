// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.testsupport.Seed;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(600)
class ClosingTest {
  @Test
  void whatWasSentBeforeAnOrderlyCloseArrives() throws Exception {
    for (int round = 0; round < (Provider.isDevice() ? 3 : 30); round++) {
      AtomicInteger seen = new AtomicInteger();
      List<String> reasons = new CopyOnWriteArrayList<>();
      ConnectionHandler handler =
          new ConnectionHandler() {
            @Override
            public void message(Connection connection, Message message) {
              seen.incrementAndGet();
            }

            @Override
            public void closed(Connection connection, CloseReason reason) {
              reasons.add(seen.get() + " " + reason.kind());
            }
          };
      // With so wide a window the other side sends no credit, which would find its peer closed.
      NetOptions.Builder options = Pair.options().connections(1).window(256).lingerMs(60_000);
      try (Pair pair = new Pair(options, handler)) {
        Connection connection = pair.connect((c, m) -> {});
        for (int i = 0; i < 100; i++) {
          Pair.send(connection, i, i);
        }
        connection.close();
        connection.close();
        assertThat(Pair.closed(connection).toString()).isEqualTo("LOCAL: closed by the program");
        Pair.await("the other end", () -> !reasons.isEmpty());
        assertThat(reasons).containsExactly("100 PEER");
        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.awaitSpace(1)).isTrue();
        Slice slice = connection.borrow();
        assertThat(connection.send(slice, 1)).isEqualTo(Connection.CLOSED);
      }
    }
  }

  @Test
  void connectionsMayBeClosedByAnybodyAtAnyTime() throws Exception {
    long seed = Seed.next();
    Random random = new Random(seed);
    int rounds = Provider.isDevice() ? 3 : 60;
    ConnectionHandler handler =
        (c, m) -> {
          Slice slice = c.borrow();
          if (slice != null && c.send(slice, 8) == Connection.BACK_PRESSURED) {
            slice.release();
          }
          if (m.longAt(0) == 77) {
            c.close();
          }
        };
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (Pair pair = new Pair(Pair.options().sendSlices(64).lingerMs(100), handler)) {
      for (int round = 0; round < rounds; round++) {
        Connection connection = connect(pair);
        int at = random.nextInt(200);
        boolean byPeer = random.nextBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int producer = 0; producer < 3; producer++) {
          threads.add(
              Thread.ofPlatform()
                  .start(
                      () -> {
                        try {
                          for (int i = 0; i < 300; i++) {
                            if (!sendOrGiveUp(connection, i == at && byPeer)) {
                              return;
                            }
                            if (i == at && !byPeer) {
                              connection.close();
                            }
                          }
                        } catch (Throwable t) {
                          failure.set(t);
                        }
                      }));
        }
        for (Thread thread : threads) {
          thread.join();
        }
        assertThat(failure.get()).as("seed %d", seed).isNull();
        connection.close();
        assertThat(Pair.closed(connection)).as("seed %d", seed).isNotNull();
      }
      Pair.await("all ends", () -> pair.right.metrics().connections() == 0);
    }
  }

  private static boolean sendOrGiveUp(Connection connection, boolean last) {
    try {
      Slice slice = connection.awaitSlice(Pair.LIMIT_NS);
      if (slice == null) {
        throw new AssertionError("slices are lost");
      }
      slice.memory().set(java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED, 0, last ? 77 : 1);
      int result;
      while ((result = connection.send(slice, 8)) == Connection.BACK_PRESSURED) {
        if (!connection.awaitSpace(Pair.LIMIT_NS)) {
          throw new AssertionError("no room comes");
        }
      }
      return result == Connection.SENT;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aDeadPeerIsKnownByTheConnectionThatHasSetItUp() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    AtomicInteger closed = new AtomicInteger();
    ConnectionHandler handler =
        new ConnectionHandler() {
          @Override
          public void message(Connection connection, Message message) {
            seen.incrementAndGet();
          }

          @Override
          public void closed(Connection connection, CloseReason reason) {
            closed.incrementAndGet();
          }
        };
    try (Pair pair = new Pair(Pair.options(), handler)) {
      Recorder between = new Recorder(pair.address);
      Connection connection = pair.left.connect(between.address(), (c, m) -> {});
      Pair.send(connection, 1, 1);
      // Before, the last frame of the exchange may still be on its way, and be lost.
      Pair.await("the message", () -> seen.get() == 1);
      // As if the kernel had closed the descriptors of a killed process.
      between.cut();
      assertThat(Pair.closed(connection).kind()).isEqualTo(CloseReason.Kind.PEER);
      Pair.await("the other end", () -> closed.get() == 1);
      between.close();
    }
  }

  @Test
  void manyConnectsAndClosesLeaveNothingBehind() throws Exception {
    churn(Provider.isDevice() ? 10 : 1000);
  }

  @Tag("long")
  @Test
  @Timeout(3000)
  void aHundredThousandConnectsAndClosesLeaveNothingBehind() throws Exception {
    assumeFalse(Provider.isDevice(), "long enough on the provider");
    churn(100_000);
  }

  private static void churn(int times) throws Exception {
    AtomicLong seen = new AtomicLong();
    try (Pair pair = new Pair(Pair.options(), (c, m) -> seen.incrementAndGet())) {
      long level = 0;
      for (int i = 0; i < times; i++) {
        Connection connection = connect(pair);
        Pair.send(connection, i, i);
        connection.close();
        CloseReason ignored = Pair.closed(connection);
        if (i == times / 2) {
          level = used();
        }
      }
      Pair.await("all messages", () -> seen.get() == times);
      Pair.await("all ends", () -> pair.right.metrics().connections() == 0);
      assertThat(pair.left.metrics().opened()).isEqualTo(times);
      assertThat(used() - level).as("bytes more than half way").isLessThan(4L << 20);
    }
  }

  /** The other side may not have ended the last ones yet, and be full. */
  private static Connection connect(Pair pair) throws Exception {
    long endNs = System.nanoTime() + Pair.LIMIT_NS;
    while (true) {
      try {
        return pair.connect((c, m) -> {});
      } catch (ExchangeException e) {
        if (!e.getMessage().contains("has all its") || System.nanoTime() > endNs) {
          throw e;
        }
        Thread.yield();
      }
    }
  }

  private static long used() {
    Runtime runtime = Runtime.getRuntime();
    runtime.gc();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
