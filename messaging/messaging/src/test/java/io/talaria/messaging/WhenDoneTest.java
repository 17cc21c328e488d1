// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.MessagingException.Code;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The consumers of requests are called whatever becomes of the node. */
@Timeout(120)
class WhenDoneTest {
  private static final Duration LIMIT = TestVerbs.limit();
  private static final int OPEN = 10;

  @TempDir Path directory;
  private Variant.Nodes nodes;
  private final Queue<Request> kept = new ConcurrentLinkedQueue<>();
  private final CountDownLatch inside = new CountDownLatch(1);
  private final CountDownLatch stuck = new CountDownLatch(1);

  @AfterEach
  void close() {
    stuck.countDown();
    if (nodes != null) {
      nodes.close();
    }
  }

  private NodeOptions options(int id) {
    return nodes
        .options(id)
        .handlers(1)
        .maxHandlers(1)
        .sendTimeout(LIMIT)
        .type(Pair.class)
        .type(Response.class);
  }

  /** Starts two nodes, or one on LOOP: 2 keeps the requests whose second number is not 0. */
  private Node start(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    Node there =
        nodes.start(
            options(2)
                .handle(
                    Pair.class,
                    Dispatch.INLINE,
                    (pair, request) -> {
                      if (pair.second() == 0) {
                        request.respond(new Response(pair.first()));
                      } else {
                        kept.add(request);
                      }
                    }));
    return variant == Variant.LOOP ? there : nodes.start(options(1));
  }

  private static ResponseFuture<Response> request(Peer peer, long first, long second)
      throws Exception {
    return peer.requestAsync(new Pair(first, second), Response.class, LIMIT);
  }

  /** What the consumer gets: the response's value, or the failure's code. */
  private static CompletableFuture<Object> told(ResponseFuture<Response> future) {
    CompletableFuture<Object> told = new CompletableFuture<>();
    future.whenDone(
        Runnable::run,
        (response, failure) -> told.complete(failure == null ? response.value() : failure.code()));
    return told;
  }

  private void hang() {
    inside.countDown();
    try {
      Waits.await(stuck);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @ParameterizedTest
  @EnumSource
  void consumersOfOpenRequestsAreCalledWhenTheNodeCloses(Variant variant) throws Exception {
    Node here = start(variant);
    Peer peer = here.peer(2);
    ResponseFuture<Response> ended = request(peer, 7, 0);
    Waits.await(ended::isDone);
    List<CompletableFuture<Object>> told = new ArrayList<>();
    for (int i = 0; i < OPEN; i++) {
      told.add(told(request(peer, i, 1)));
    }
    ResponseFuture<Response> later = request(peer, OPEN, 1);
    Waits.await(() -> kept.size() == OPEN + 1);
    // The only handler is in a consumer that does not return, so it calls none of the others.
    request(peer, 0, 0).whenDone(Runnable::run, (response, failure) -> hang());
    Waits.await(inside);
    // One that hangs after the end of the handlers must not keep the others waiting, either.
    request(peer, OPEN + 1, 1).whenDone(Runnable::run, (response, failure) -> hang());
    here.close(Duration.ZERO);
    told.add(told(later));
    for (CompletableFuture<Object> each : told) {
      assertThat(each.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isEqualTo(Code.CLOSED);
    }
    assertThat(told(ended).get(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isEqualTo(7L);
    assertThat(kept).as("those that nobody may collect").hasSizeGreaterThan(OPEN);
  }
}
