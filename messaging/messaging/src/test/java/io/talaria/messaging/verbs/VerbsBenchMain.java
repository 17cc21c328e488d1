// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
import io.talaria.messaging.Peer;
import io.talaria.messaging.TestVerbs;
import io.talaria.messaging.Transport;
import io.talaria.testsupport.GuestFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What {@code rdma-test --bench} compares with perftest: a line {@code measure NAME VALUE} each, in
 * microseconds, messages a second, or MB (10^6 bytes) a second. Both nodes are in this JVM.
 */
public final class VerbsBenchMain {
  private static final int NEAR = 1;
  private static final int FAR = 2;
  private static final int LARGE = 64 << 10;

  /** So often each is done before it counts. */
  private static final int WARM_UP = 3_000;

  private static final int LARGE_WARM_UP = 200;

  private VerbsBenchMain() {}

  /**
   * An object of 16 B.
   *
   * @param first a field
   * @param second another
   */
  public record Two(long first, long second) {}

  /**
   * A request of 16 B.
   *
   * @param first a field
   * @param second another
   */
  public record Get(long first, long second) {}

  /**
   * A long object.
   *
   * @param bytes its content
   */
  @SuppressWarnings("ArrayRecordComponent") // Bytes to be sent.
  public record Many(byte[] bytes) {}

  /**
   * Measures.
   *
   * @param args how often each is done, 1,000 by default
   */
  public static void main(String[] args) throws Exception {
    Optional<String> missing = TestVerbs.prepare();
    if (missing.isPresent()) {
      throw new IllegalStateException(missing.get());
    }
    int count = args.length > 0 ? Integer.parseInt(args[0]) : 1_000;
    Path directory = Files.createTempDirectory("talaria-verbs-bench");
    AtomicLong received = new AtomicLong();
    NodeOptions near = options(NEAR, directory).type(Two.class).type(Get.class).type(Many.class);
    NodeOptions far =
        options(FAR, directory)
            .receive(Two.class, Dispatch.INLINE, (two, from) -> received.incrementAndGet())
            .receive(Many.class, Dispatch.INLINE, (many, from) -> received.incrementAndGet())
            .handle(
                Get.class,
                Dispatch.INLINE,
                (get, request) -> request.respond(new Two(get.first(), get.second())));
    try (Node other = Nodes.start(far);
        Node node = Nodes.start(near)) {
      Peer peer = node.peer(other.id());
      GuestFigures.print("messaging_request_us", requests(peer, count));
      Two two = new Two(1, 2);
      GuestFigures.print(
          "messaging_messages_s", count * 5 / sendAll(peer, two, received, WARM_UP, count * 5));
      Many many = new Many(new byte[LARGE]);
      int few = count / 2;
      double seconds = sendAll(peer, many, received, LARGE_WARM_UP, few);
      GuestFigures.print("messaging_large_mbs", (double) few * LARGE / 1e6 / seconds);
    }
  }

  private static NodeOptions options(int id, Path directory) {
    return NodeOptions.of(id)
        .cluster("bench")
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"))
        .transports(Transport.VERBS)
        .sendTimeout(TestVerbs.limit());
  }

  /** Returns the median of a request and its response, in microseconds. */
  private static double requests(Peer peer, int count)
      throws MessagingException, InterruptedException {
    Get get = new Get(1, 2);
    Duration limit = TestVerbs.limit();
    long[] ns = new long[count];
    for (int i = -WARM_UP; i < count; i++) {
      if (i == 0) {
        GuestFigures.awaitCompilers();
      }
      long began = System.nanoTime();
      Two two = peer.request(get, Two.class, limit);
      if (i >= 0) {
        ns[i] = System.nanoTime() - began;
      }
      if (two.second() != 2) {
        throw new IllegalStateException("a response of " + two);
      }
    }
    return GuestFigures.medianUs(ns);
  }

  /** Returns in how many seconds messages were sent and received. */
  private static double sendAll(
      Peer peer, Object message, AtomicLong received, int warmUp, int count)
      throws IOException, InterruptedException {
    double ignored = sendAll(peer, message, received, warmUp);
    GuestFigures.awaitCompilers();
    return sendAll(peer, message, received, count);
  }

  private static double sendAll(Peer peer, Object message, AtomicLong received, int count)
      throws IOException, InterruptedException {
    received.set(0);
    long began = System.nanoTime();
    long position = 0;
    for (int i = 0; i < count; i++) {
      position = peer.send(message);
    }
    boolean delivered = peer.awaitDelivered(position, TestVerbs.limit());
    double seconds = (System.nanoTime() - began) / 1e9;
    if (!delivered || received.get() != count) {
      throw new IllegalStateException(received.get() + " of " + count + " messages were received");
    }
    return seconds;
  }
}
