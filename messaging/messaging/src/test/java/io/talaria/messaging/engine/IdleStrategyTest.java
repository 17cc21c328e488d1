// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.IdleStrategy;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Nodes whose pollers never sleep, and so are never woken: what is usually told before sleep must
 * be told all the same. None asks whether the other lives, so nothing else brings it to light.
 */
@Tag("alone")
@Timeout(180)
class IdleStrategyTest {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final int REQUESTS = 200;
  private static final int MESSAGES = 2_000;
  private static final int BLOB = 3 << 20;
  private static final int MAX_PAUSE_NS = 200_000;

  /** Longer than the first two steps. */
  private static final long REST_MS = 1_300;

  private static final int LOOKS = 1_000;

  record Figure(long value) {}

  @SuppressWarnings("ArrayRecordComponent") // its length is compared
  record Blob(byte[] bytes) {}

  @TempDir Path directory;
  private final AtomicInteger taken = new AtomicInteger();
  private LocalNode near;
  private LocalNode far;

  private NodeOptions options(int id, Transport transport, IdleStrategy idleStrategy) {
    return NodeOptions.of(id)
        .cluster("test")
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"))
        .transports(transport)
        .idleStrategy(idleStrategy)
        .dataRingBytes(16 << 10) // senders wait for room
        .controlRingBytes(16 << 10)
        .sendTimeout(LIMIT)
        .receive(Figure.class, Dispatch.INLINE, (number, from) -> taken.incrementAndGet())
        .handle(Figure.class, Dispatch.INLINE, (number, request) -> request.respond(number))
        .handle(Blob.class, Dispatch.ORDERED, (blob, request) -> request.respond(blob));
  }

  private void start(Transport transport, IdleStrategy idleStrategy) throws Exception {
    NodeOptions second = options(2, transport, idleStrategy);
    far =
        RunningNodes.start(
            transport == Transport.TCP ? second.listen("127.0.0.1", 0) : second, false);
    InetSocketAddress there =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Math.max(0, far.port()));
    near =
        RunningNodes.start(
            options(1, transport, idleStrategy).directory(id -> Map.of(2, there).get(id)), false);
  }

  @AfterEach
  void close() {
    if (near != null) {
      near.close(LIMIT);
    }
    if (far != null) {
      far.close(LIMIT);
    }
  }

  private static void ask(Peer peer, long value) throws Exception {
    assertThat(peer.request(new Figure(value), Figure.class, LIMIT)).isEqualTo(new Figure(value));
  }

  @ParameterizedTest
  @CsvSource({
    "BUSY_SPIN, SHM",
    "BUSY_SPIN, TCP",
    "BUSY_SPIN, UCX",
    "BUSY_SPIN, VERBS",
    "BACKOFF, SHM",
    "BACKOFF, TCP",
    "BACKOFF, UCX",
    "BACKOFF, VERBS"
  })
  void whoNeverSleepsMissesNothing(IdleStrategy idleStrategy, Transport transport)
      throws Exception {
    WakeUps.assume(transport);
    start(transport, idleStrategy);
    Peer peer = near.peer(2);
    Random random = new Random(1);
    for (int i = 0; i < REQUESTS; i++) {
      ask(peer, i);
      LockSupport.parkNanos(random.nextInt(MAX_PAUSE_NS));
    }
    long position = 0;
    for (int i = 0; i < MESSAGES; i++) {
      position = peer.send(new Figure(i));
    }
    assertThat(peer.awaitDelivered(position, LIMIT)).isTrue();
    assertThat(taken.get()).isEqualTo(MESSAGES);
    assertThat(peer.request(new Blob(new byte[BLOB]), Blob.class, LIMIT).bytes()).hasSize(BLOB);
    TimeUnit.MILLISECONDS.sleep(REST_MS);
    for (int i = 0; i < LOOKS; i++) {
      assertThat(near.poller().sleeps() || far.poller().sleeps()).isFalse();
    }
    position = peer.send(new Figure(1)); // alone: nothing after it tells that it was taken
    assertThat(peer.awaitDelivered(position, LIMIT)).isTrue();
    assertThat(taken.get()).isEqualTo(MESSAGES + 1);
    ask(far.peer(1), 7);
    assertThat(far.remote(1).connected()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"SHM", "TCP"})
  void whoeverNeverSleepsTalksToThoseWhoDo(Transport transport) throws Exception {
    start(transport, IdleStrategy.BACKOFF);
    try (LocalNode sleeper =
        RunningNodes.start(
            options(3, transport, IdleStrategy.ADAPTIVE)
                .directory(
                    id ->
                        new InetSocketAddress(
                            InetAddress.getLoopbackAddress(), Math.max(1, far.port()))))) {
      for (int i = 0; i < REQUESTS; i++) {
        ask(sleeper.peer(2), i);
        ask(far.peer(3), i);
        if (i % 50 == 0) {
          TimeUnit.MILLISECONDS.sleep(5); // it sleeps
        }
      }
    }
  }
}
