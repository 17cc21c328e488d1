// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs with two nodes in one process, each of which uses the other. */
@Timeout(120)
class TwoNodesTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir Path directory;
  private Variant.Nodes nodes;

  @AfterEach
  void close() {
    if (nodes != null) {
      nodes.close();
    }
  }

  /** The response needs a second handler of node 1, whose first one waits for it at node 2. */
  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP"})
  void aHandlerThatWaitsAtAnotherNodeIsReplacedAtItsOwn(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    AtomicReference<Node> other = new AtomicReference<>();
    CompletableFuture<Long> got = new CompletableFuture<>();
    Node one =
        nodes.start(
            options(1)
                .receive(
                    Text.class,
                    Dispatch.ORDERED,
                    (text, from) -> {
                      try {
                        Peer own = other.get().peer(1);
                        got.complete(own.request(new Pair(7, 0), Response.class, LIMIT).value());
                      } catch (MessagingException e) {
                        got.completeExceptionally(e);
                      }
                    })
                .handle(
                    Pair.class,
                    Dispatch.ORDERED,
                    (pair, request) -> request.respond(new Response(pair.first()))));
    other.set(nodes.start(options(2).type(Text.class).type(Pair.class)));
    other.get().peer(1).send(new Text("begin"));
    assertThat(got.get(2 * LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(7);
    assertThat(one.counters().failed()).isZero();
  }

  private NodeOptions options(int id) {
    return nodes
        .options(id)
        .handlers(1)
        .maxHandlers(2)
        .sendTimeout(Duration.ofSeconds(60))
        .type(Response.class);
  }
}
