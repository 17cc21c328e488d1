// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.Peer;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.Waits;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Large messages that wait for memory get it as soon as there is enough. */
@Timeout(180)
class LargeMemoryTest {
  private static final int BUDGET = 8 << 20;
  private static final int STREAM = 1 << 20;

  record Figure(long value) {}

  @TempDir Path directory;
  private LocalNode near;
  private LocalNode far;
  private LocalNode third;

  @AfterEach
  void close() {
    RunningNodes.close(near, far, third);
  }

  private LocalNode start(int id) throws Exception {
    return RunningNodes.start(
        TestOptions.of(id, Transport.SHM, directory)
            .receiveBudget(BUDGET)
            .sendTimeout(Waits.LIMIT)
            .receive(Figure.class, Dispatch.INLINE, (figure, from) -> {}));
  }

  /** Connects a node with the far one, and returns its end of the connection. */
  private static Connection connect(LocalNode node) throws Exception {
    Peer peer = node.peer(2);
    assertThat(peer.awaitDelivered(peer.send(new Figure(1)), LIMIT)).isTrue();
    return node.remote(2).connection();
  }

  @Test
  void theNextMessageGetsMemoryWhenTheConnectionOfTheFirstHasEnded() throws Exception {
    far = start(2);
    near = start(1);
    third = start(3);
    Connection first = connect(near);
    Connection next = connect(third);
    LargeMemory memory = far.largeMemory();
    assertThat(memory.take(5 << 20)).as("for what handlers have").isTrue();
    first.control(Records.BIG, STREAM, 7 << 20);
    await(() -> memory.waiting() == 1);
    next.control(Records.BIG, STREAM, 2 << 20);
    await(() -> memory.waiting() == 2);
    near.poller().dropSoon(first, "the test ends it");
    await(() -> memory.waiting() == 0);
    assertThat(memory.take(2 << 20)).as("the message has the rest").isFalse();
  }
}
