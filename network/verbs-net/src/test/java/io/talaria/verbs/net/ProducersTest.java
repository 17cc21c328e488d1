// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(300)
class ProducersTest {
  private static final int PRODUCERS = 8;
  private static final int MESSAGES = Provider.isDevice() ? 100 : 5_000;

  @Test
  void eightProducersOnOneConnectionLoseAndReorderNothing() throws Exception {
    long[] next = new long[PRODUCERS];
    AtomicLong seen = new AtomicLong();
    AtomicLong wrong = new AtomicLong();
    ConnectionHandler handler =
        (c, m) -> {
          int producer = (int) m.longAt(0);
          if (m.length() != 16 || m.longAt(8) != next[producer]++) {
            wrong.incrementAndGet();
          }
          seen.incrementAndGet();
        };
    try (Pair pair = new Pair(Pair.options().sendSlices(32).sendDepth(16), handler);
        ExecutorService threads = Executors.newFixedThreadPool(PRODUCERS)) {
      Connection connection = pair.connect((c, m) -> {});
      List<Future<?>> futures = new ArrayList<>();
      for (int i = 0; i < PRODUCERS; i++) {
        int producer = i;
        futures.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < MESSAGES; n++) {
                    Pair.send(connection, producer, n);
                  }
                  return null;
                }));
      }
      for (Future<?> future : futures) {
        Object ignored = future.get(Pair.LIMIT_NS * 4, TimeUnit.NANOSECONDS);
      }
      Pair.await("all messages", () -> seen.get() == (long) PRODUCERS * MESSAGES);
      assertThat(wrong.get()).isZero();
      Metrics metrics = pair.left.metrics();
      assertThat(metrics.messagesOut()).isEqualTo((long) PRODUCERS * MESSAGES);
      assertThat(metrics.posted()).isEqualTo((long) PRODUCERS * MESSAGES);
      assertThat(metrics.posts()).isBetween(metrics.posted() / 64, metrics.posted());
    }
  }
}
