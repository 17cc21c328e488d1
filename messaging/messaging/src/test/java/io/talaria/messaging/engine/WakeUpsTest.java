// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.Transport;
import io.talaria.messaging.engine.WakeUps.Back;
import io.talaria.messaging.engine.WakeUps.Blob;
import io.talaria.messaging.engine.WakeUps.Inline;
import io.talaria.messaging.engine.WakeUps.Message;
import io.talaria.messaging.engine.WakeUps.Ordered;
import io.talaria.messaging.node.LocalNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Everything that one side waits for, with random pauses, while the other process is stopped for
 * moments. Neither node asks whether the other lives, and nobody begins anything before all of a
 * round have ended: a wake-up that is lost stays lost, and is shown.
 */
@Tag("long")
@Timeout(900)
class WakeUpsTest {
  private static final int ROUNDS = Integer.getInteger("talaria.test.wakeups", 2_000);
  private static final int THREADS = 3;
  private static final int KINDS = 8;

  /** Guards against hanging: no wait is that long unless it is for ever. */
  private static final long LOST_S = 60;

  @TempDir Path directory;
  private FarNode far;
  private LocalNode near;

  @AfterEach
  void end() throws Exception {
    if (far != null) {
      far.close();
    }
    if (near != null) {
      near.close(Duration.ZERO);
    }
  }

  private static void pause(Random random) {
    int how = random.nextInt(8);
    if (how < 3) {
      LockSupport.parkNanos(1L << (10 + random.nextInt(10)));
    } else if (how == 3) {
      LockSupport.parkNanos(1L << (20 + random.nextInt(3)));
    }
  }

  private static Void one(Peer peer, Random random) throws Exception {
    pause(random);
    long value = random.nextLong();
    switch (random.nextInt(KINDS)) {
      case 0, 1 -> assertThat(ask(peer, value)).isEqualTo(value);
      case 2 ->
          assertThat(peer.request(new Ordered(value), Ordered.class, WakeUps.LIMIT).value())
              .isEqualTo(value);
      case 3 ->
          assertThat(peer.request(new Back(value), Back.class, WakeUps.LIMIT).value())
              .isEqualTo(value);
      case 4 -> {
        byte[] bytes = new byte[random.nextInt(100_000)];
        assertThat(peer.request(new Blob(bytes), Blob.class, WakeUps.LIMIT).bytes())
            .hasSize(bytes.length);
      }
      case 5 -> {
        long position = 0;
        for (int i = random.nextInt(2_000); i >= 0; i--) {
          position = peer.send(new Message(i));
        }
        assertThat(peer.awaitDelivered(position, WakeUps.LIMIT)).isTrue();
      }
      case 6 -> {
        long position = peer.send(new Blob(new byte[random.nextInt(200_000)]));
        pause(random);
        assertThat(peer.awaitDelivered(position, WakeUps.LIMIT)).isTrue();
      }
      default -> {
        ResponseFuture<Ordered> future =
            peer.requestAsync(new Ordered(value), Ordered.class, WakeUps.LIMIT);
        pause(random);
        assertThat(future.await(WakeUps.LIMIT).value()).isEqualTo(value);
      }
    }
    return null;
  }

  private static long ask(Peer peer, long value) throws MessagingException {
    return peer.request(new Inline(value), Inline.class, WakeUps.LIMIT).value();
  }

  @ParameterizedTest
  @CsvSource({
    "SHM, 16384",
    "SHM, 1048576",
    "TCP, 16384",
    "TCP, 1048576",
    "UCX, 16384",
    "UCX, 1048576",
    "VERBS, 16384",
    "VERBS, 1048576"
  })
  void noWaitIsForEver(Transport transport, int dataRingBytes) throws Exception {
    WakeUps.assume(transport);
    far = FarNode.start(transport, dataRingBytes, directory);
    near = WakeUps.start(1, transport, dataRingBytes, directory, far.port);
    Peer peer = near.peer(2);
    Random random = new Random(dataRingBytes);
    try (ExecutorService platform = Executors.newFixedThreadPool(THREADS);
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < ROUNDS; round++) {
        if (random.nextInt(8) == 0) {
          far.stopForAMoment(random);
        }
        List<Future<Void>> all = new ArrayList<>();
        for (int i = random.nextInt(THREADS); i >= 0; i--) {
          Random own = new Random(random.nextLong());
          ExecutorService threads = random.nextInt(4) == 0 ? virtual : platform;
          all.add(threads.submit(() -> one(peer, own)));
        }
        for (Future<Void> each : all) {
          await(each, round);
        }
      }
    }
    far.end();
  }

  private void await(Future<Void> each, int round) throws Exception {
    try {
      each.get(LOST_S, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      String here = WakeUps.state(near);
      far.tell();
      try {
        each.get(5, TimeUnit.SECONDS); // while it tells
      } catch (TimeoutException still) {
        // It was lost.
      }
      throw new AssertionError("round " + round + " waits:\n" + here + "\n" + far.said(), e);
    }
  }
}
