// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What two connected nodes cost that have nothing to do. */
@Tag("alone")
@Tag("long")
@Timeout(120)
class IdleTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int SECONDS = 10;

  /** Of a core, both together. */
  private static final double MAX_SHARE = 0.005;

  record Figure(long value) {}

  @TempDir Path directory;

  private NodeOptions options(int id, Transport transport) {
    return TestOptions.of(id, transport, directory)
        .sendTimeout(Duration.ofSeconds(30))
        .handle(Figure.class, Dispatch.INLINE, (number, request) -> request.respond(number));
  }

  private static long cpuNs() {
    var threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(each -> each.getName().startsWith("talaria-"))
        .mapToLong(each -> Math.max(0, threads.getThreadCpuTime(each.threadId())))
        .sum();
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void twoIdleNodesCostLessThanHalfAPercentOfACore(Transport transport) throws Exception {
    WakeUps.assume(transport);
    NodeOptions first = options(1, transport);
    LocalNode far =
        RunningNodes.start(transport == Transport.TCP ? first.listen("127.0.0.1", 0) : first);
    InetSocketAddress there =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Math.max(0, far.port()));
    LocalNode near =
        RunningNodes.start(options(2, transport).directory(id -> Map.of(1, there).get(id)));
    try {
      for (int i = 0; i < 20_000; i++) { // compiled
        assertThat(near.peer(1).request(new Figure(i), Figure.class, LIMIT).value()).isEqualTo(i);
      }
      TimeUnit.SECONDS.sleep(1);
      long before = cpuNs();
      TimeUnit.SECONDS.sleep(SECONDS);
      double share = (cpuNs() - before) / 1e9 / SECONDS;
      System.out.println(transport + ": two idle nodes take " + 100 * share + " % of a core");
      assertThat(share).isLessThan(MAX_SHARE);
      assertThat(near.peer(1).connected()).isTrue();
    } finally {
      near.close(LIMIT);
      far.close(LIMIT);
    }
  }
}
