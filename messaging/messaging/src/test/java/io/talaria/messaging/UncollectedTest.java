// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.MessagingException.Code;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** ResponseSlots whose responses nobody takes, or late, keep nothing from others. */
@Timeout(180)
class UncollectedTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path directory;
  private Variant.Nodes nodes;
  private Node here;
  private Peer peer;
  private final Queue<Request> kept = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void make() throws Exception {
    nodes = new Variant.Nodes(Variant.SHM, directory);
    Node there =
        nodes.start(
            nodes
                .options(2)
                .type(Response.class)
                .handle(
                    Pair.class,
                    Dispatch.INLINE,
                    (pair, request) -> {
                      if (pair.first() < 0) {
                        kept.add(request);
                      } else {
                        request.respond(new Response(pair.second()));
                      }
                    }));
    assertThat(there.id()).isEqualTo(2);
    here =
        nodes.start(
            nodes
                .options(1)
                .sendTimeout(Duration.ofMinutes(1))
                .type(Pair.class)
                .type(Response.class));
    peer = here.peer(2);
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private void awaitOpenRequests(int wanted) throws Exception {
    while (here.counters().openRequests() != wanted) {
      Thread.sleep(1);
    }
  }

  @Test
  void requestsThatNobodyCollectsGiveTheirPlacesBack() throws Exception {
    long sent = 0;
    while (sent < 70_000) {
      try {
        peer.requestAsync(new Pair(0, sent), Response.class, LIMIT);
        sent++;
      } catch (MessagingException e) { // as many as that are under way, and not answered yet
        assertThat(e.code()).isEqualTo(Code.BACK_PRESSURED);
        Thread.yield();
      }
    }
    awaitOpenRequests(0);
    assertThat(peer.request(new Pair(0, 5), Response.class, LIMIT).value()).isEqualTo(5);
  }

  @Test
  void aResponseThatIsCollectedLateIsThere() throws Exception {
    List<ResponseFuture<Response>> futures = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      futures.add(peer.requestAsync(new Pair(0, i), Response.class, Duration.ofSeconds(20)));
    }
    awaitOpenRequests(0);
    for (int i = 0; i < 1000; i++) {
      assertThat(futures.get(i).isDone()).isTrue();
      if (i % 10 == 9) {
        assertThat(futures.get(i).cancel()).isFalse();
      } else {
        assertThat(futures.get(i).await(Duration.ZERO).value()).isEqualTo(i);
      }
      ResponseFuture<Response> taken = futures.get(i);
      assertThat(
              catchThrowableOfType(IllegalStateException.class, () -> taken.await(Duration.ZERO)))
          .isNotNull();
    }
  }

  @Test
  void aRequestThatNobodyCollectsEndsAtItsLimit() throws Exception {
    peer.request(new Pair(0, 0), Response.class, LIMIT); // connecting may take longer than 50 ms
    AtomicInteger told = new AtomicInteger();
    ResponseFuture<Response> collected =
        peer.requestAsync(new Pair(-1, 0), Response.class, Duration.ofMillis(50));
    peer.requestAsync(new Pair(-1, 0), Response.class, Duration.ofMillis(50))
        .whenDone(
            Runnable::run,
            (response, failure) -> {
              if (failure.code() == Code.TIMED_OUT) {
                told.incrementAndGet();
              }
            });
    ResponseFuture<Response> cancelled = peer.requestAsync(new Pair(-1, 0), Response.class, LIMIT);
    cancelled.whenDone(
        Runnable::run,
        (response, failure) -> {
          if (failure.code() == Code.CANCELLED) {
            told.incrementAndGet();
          }
        });
    assertThat(cancelled.cancel()).isTrue();
    awaitOpenRequests(0);
    while (told.get() != 2) {
      Thread.sleep(1);
    }
    MessagingException late =
        catchThrowableOfType(MessagingException.class, () -> collected.await(LIMIT));
    assertThat(late.code()).isEqualTo(Code.TIMED_OUT);
    Waits.await(() -> kept.size() == 3); // they may come after their ends
    for (Request each : kept) {
      each.respond(new Response(1)); // nobody waits for it
    }
    assertThat(peer.request(new Pair(0, 5), Response.class, LIMIT).value()).isEqualTo(5);
    assertThat(here.counters().lateResponses()).isEqualTo(3);
  }
}
