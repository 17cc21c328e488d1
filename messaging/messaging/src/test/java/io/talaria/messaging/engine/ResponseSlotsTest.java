// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the slots of requests keep. */
@Timeout(120)
class ResponseSlotsTest {
  record Figure(long value) {}

  @TempDir Path directory;
  private LocalNode node;

  @AfterEach
  void close() {
    RunningNodes.close(node);
  }

  /** Else ended connections, and their rings, would be kept for as long as the node runs. */
  @Test
  void aFreeSlotKeepsNoConnection() throws Exception {
    node =
        RunningNodes.start(
            TestOptions.of(1, Transport.SHM, directory)
                .sendTimeout(LIMIT)
                .handle(
                    Figure.class, Dispatch.INLINE, (figure, request) -> request.respond(figure)));
    ResponseFuture<Figure> later = node.peer(1).requestAsync(new Figure(1), Figure.class, LIMIT);
    assertThat(node.peer(1).request(new Figure(2), Figure.class, LIMIT)).isEqualTo(new Figure(2));
    assertThat(later.await(LIMIT)).isEqualTo(new Figure(1));
    await(() -> node.responseSlots().open() == 0); // the conductor may give one back
    int slots = 0;
    while (node.responseSlots().at(slots) != null) {
      assertThat(node.responseSlots().at(slots).connection).as("of slot %s", slots).isNull();
      slots++;
    }
    assertThat(slots).isPositive();
  }
}
