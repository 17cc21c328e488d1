// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads that wait for one response are woken whatever other threads do with it. */
@Timeout(120)
class SharedFutureTest {
  private static final Duration LIMIT = TestVerbs.limit();

  /** A thread that nobody wakes waits for longer than the test. */
  private static final Duration LONG = Duration.ofHours(1);

  @TempDir Path directory;
  private Variant.Nodes nodes;
  private final Queue<Request> kept = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    if (nodes != null) {
      nodes.close();
    }
  }

  /** Starts two nodes, or one on LOOP, and sends a request that 2 keeps. */
  private ResponseFuture<Response> request(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    Node there =
        nodes.start(
            options(2).handle(Pair.class, Dispatch.INLINE, (pair, request) -> kept.add(request)));
    Node here = variant == Variant.LOOP ? there : nodes.start(options(1));
    ResponseFuture<Response> future =
        here.peer(2).requestAsync(new Pair(1, 2), Response.class, LONG);
    Waits.await(() -> kept.size() == 1);
    return future;
  }

  private NodeOptions options(int id) {
    return nodes.options(id).sendTimeout(LIMIT).type(Pair.class).type(Response.class);
  }

  /** Starts a thread that waits, and returns what it will get: a response or what was thrown. */
  private static CompletableFuture<Object> await(ResponseFuture<Response> future)
      throws InterruptedException {
    CompletableFuture<Object> got = new CompletableFuture<>();
    Thread waiting =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    got.complete(future.await(LONG));
                  } catch (MessagingException | RuntimeException e) {
                    got.complete(e);
                  }
                });
    Waits.await(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    return got;
  }

  private static Object get(CompletableFuture<Object> got) throws Exception {
    return got.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
  }

  @ParameterizedTest
  @EnumSource
  void aThreadThatWaitsIsWokenWhenAnotherOneCancels(Variant variant) throws Exception {
    ResponseFuture<Response> future = request(variant);
    CompletableFuture<Object> got = await(future);
    assertThat(future.cancel()).isTrue();
    assertThat(get(got)).isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @EnumSource
  void aThreadThatWaitsGetsTheResponseAlthoughAnotherOneHasWaitedForAMoment(Variant variant)
      throws Exception {
    ResponseFuture<Response> future = request(variant);
    CompletableFuture<Object> got = await(future);
    assertThat(future.await(Duration.ofNanos(1))).isNull();
    kept.remove().respond(new Response(5));
    assertThat(get(got)).isEqualTo(new Response(5));
  }

  @ParameterizedTest
  @EnumSource
  void allThreadsThatWaitAreWokenAndOneOfThemGetsTheResponse(Variant variant) throws Exception {
    ResponseFuture<Response> future = request(variant);
    CompletableFuture<Object> one = await(future);
    CompletableFuture<Object> other = await(future);
    kept.remove().respond(new Response(5));
    assertThat(new Object[] {get(one), get(other)})
        .contains(new Response(5))
        .hasAtLeastOneElementOfType(IllegalStateException.class);
  }
}
