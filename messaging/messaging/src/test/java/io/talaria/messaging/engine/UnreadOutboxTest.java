// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.Waits;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers that cause records for them, and do not read them. */
@Timeout(180)
class UnreadOutboxTest {
  /** More than may wait, of failures with the longest text. */
  private static final int FAILURES = 100_000;

  private static final int FAILURE_BYTES = 1001;

  record Figure(long value) {}

  @TempDir Path directory;
  private LocalNode near;
  private LocalNode far;

  @AfterEach
  void close() {
    RunningNodes.close(near, far);
  }

  private LocalNode start(int id) throws Exception {
    return RunningNodes.start(
        TestOptions.of(id, Transport.SHM, directory)
            .sendTimeout(Waits.LIMIT)
            .handle(Figure.class, Dispatch.INLINE, (figure, request) -> request.respond(figure)));
  }

  private Figure request(long value) throws Exception {
    return near.peer(2).request(new Figure(value), Figure.class, LIMIT);
  }

  @Test
  void aPeerThatDoesNotReadItsFailuresIsDisconnected() throws Exception {
    far = start(2);
    near = start(1);
    assertThat(request(1)).isEqualTo(new Figure(1));
    await(() -> far.remote(1).connection() != null);
    Connection here = near.remote(2).connection();
    Connection there = far.remote(1).connection();
    await(() -> here.leading().tryLock());
    try {
      MemorySegment failure = Arena.ofAuto().allocate(FAILURE_BYTES);
      for (int i = 0; i < FAILURES; i++) {
        there.outbox().put(failure, 0, Records.FAILURE, 0, -1);
      }
      await(there::dead);
    } finally {
      here.leading().unlock();
    }
    assertThat(there.closing().failure()).startsWith("it does not read what it is told");
    await(() -> far.counters().lost() == 1);
    await(() -> near.remote(2).connection() != here);
    assertThat(request(2)).isEqualTo(new Figure(2));
  }
}
