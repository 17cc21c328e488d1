// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Messages.Answer;
import io.talaria.messaging.Messages.Pair;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Road ucx where there is no UCX. */
@Timeout(60)
class WithoutUcxTest {
  private static final String NOWHERE = "/nowhere/libucp.so.0";

  @TempDir Path directory;

  /** This JVM runs no other class. */
  @BeforeAll
  static void hide() {
    System.setProperty(Ucx.PROPERTY, NOWHERE);
  }

  private NodeOptions options(int id) {
    return NodeOptions.of(id)
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"))
        .sendLimit(Duration.ofSeconds(20))
        .type(Answer.class)
        .answer(Pair.class, Dispatch.INLINE, (pair, call) -> call.answer(new Answer(pair.first())));
  }

  @Test
  void aNodeThatHasNoOtherRoadDoesNotStart() {
    assertThatThrownBy(() -> Node.start(options(1).roads(Road.UCX)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("road ucx is the only one, and cannot be used: ")
        .hasMessageContaining(NOWHERE);
  }

  @Test
  void othersGoWithoutIt() throws Exception {
    try (Node far = Node.start(options(2).roads(Road.SHM, Road.UCX));
        Node near = Node.start(options(1).roads(Road.SHM, Road.UCX))) {
      Peer peer = near.peer(far.id());
      assertThat(peer.ask(new Pair(7, 0), Answer.class, 60_000_000_000L).value()).isEqualTo(7);
      assertThat(peer.road()).isEqualTo("shm");
    }
  }
}
