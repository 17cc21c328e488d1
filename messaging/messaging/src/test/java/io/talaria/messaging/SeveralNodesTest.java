// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Text;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A handler that waits until it can send to several nodes. */
@Timeout(180)
class SeveralNodesTest {
  private static final int NOBODY = 77;

  @TempDir Path directory;
  private Variant.Nodes nodes;

  @AfterEach
  void close() {
    if (nodes != null) {
      nodes.close();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LOOP", "SHM"})
  void givesItsPlaceToAnotherOne(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    AtomicReference<Node> itself = new AtomicReference<>();
    CountDownLatch waits = new CountDownLatch(1);
    CountDownLatch got = new CountDownLatch(1);
    Node there =
        nodes.start(
            nodes
                .options(2)
                .handlers(1)
                .sendTimeout(Waits.LIMIT)
                .receive(
                    Pair.class,
                    (pair, from) -> {
                      waits.countDown();
                      itself.get().send(NodeSet.of(NOBODY), pair, new long[1]);
                    })
                .receive(Text.class, (text, from) -> got.countDown()));
    itself.set(there);
    Node here =
        variant == Variant.LOOP
            ? there
            : nodes.start(
                nodes.options(1).sendTimeout(Waits.LIMIT).type(Pair.class).type(Text.class));
    assertThat(here.peer(2).send(new Pair(1, 2))).isPositive();
    Waits.await(waits);
    assertThat(here.peer(2).send(new Text(""))).isPositive();
    // Before the other handler has ceased to wait.
    assertThat(got.await(Waits.LIMIT.toSeconds() / 2, TimeUnit.SECONDS)).isTrue();
  }
}
