// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Request;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests with timeouts that are shorter than a spin. */
@Timeout(120)
class BriefRequestTest {
  private static final long TIMEOUT_NS = 100_000;
  private static final int REQUESTS = 20;

  /** Two rounds: between them a leader reads the clock. */
  private static final int LOOKS = 8;

  record Figure(long value) {}

  record Never(long value) {}

  @TempDir Path directory;
  private final Queue<Request> kept = new ConcurrentLinkedQueue<>();
  private LocalNode near;
  private LocalNode far;

  // Only for the test's thread.
  private long firstNs;
  private int late;

  @AfterEach
  void close() {
    RunningNodes.close(near, far);
  }

  private LocalNode start(int id) throws Exception {
    return RunningNodes.start(
        TestOptions.of(id, Transport.SHM, directory)
            .sendTimeout(LIMIT)
            .spin(Duration.ofMillis(200))
            .handle(Figure.class, Dispatch.INLINE, (figure, request) -> request.respond(figure))
            .handle(Never.class, Dispatch.INLINE, (never, request) -> kept.add(request)));
  }

  @Test
  void aLeaderDoesNotLookAfterItsTimeout() throws Exception {
    far = start(2);
    near = start(1);
    assertThat(near.peer(2).request(new Figure(1), Figure.class, LIMIT)).isEqualTo(new Figure(1));
    Connection here = near.remote(2).connection();
    Thread test = Thread.currentThread();
    here.runOn(
        new HookedLink(here.link(), () -> {}) {
          @Override
          public boolean bring() {
            if (Thread.currentThread() == test) {
              long now = System.nanoTime();
              if (firstNs == 0) {
                firstNs = now; // the timeout has begun before
              }
              if (now - firstNs > TIMEOUT_NS) {
                late++;
              }
            }
            return super.bring();
          }
        });
    for (int i = 0; i < REQUESTS; i++) {
      firstNs = 0;
      assertThatThrownBy(() -> near.peer(2).requestNs(new Never(1), Figure.class, TIMEOUT_NS))
          .isInstanceOf(MessagingException.class);
    }
    assertThat(late).isLessThanOrEqualTo(REQUESTS * LOOKS);
  }
}
