// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.TypeEntry;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the poller does while a thread that waits for a response looks for it. */
@Timeout(120)
class LeadingTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long WATCHED_NS = 500_000_000L;

  record Figure(long value) {}

  @TempDir Path directory;
  private LocalNode near;
  private LocalNode far;

  private LocalNode start(int id) throws Exception {
    return RunningNodes.start(
        NodeOptions.of(id)
            .cluster("test")
            .runDirectory(directory.resolve("run"))
            .sharedMemoryDirectory(directory.resolve("shm"))
            .transports(Transport.SHM)
            .sendTimeout(Duration.ofSeconds(30))
            .handle(Figure.class, Dispatch.INLINE, (number, request) -> request.respond(number)));
  }

  @BeforeEach
  void connect() throws Exception {
    near = start(1);
    far = start(2);
    assertThat(near.peer(2).request(new Figure(1), Figure.class, LIMIT)).isEqualTo(new Figure(1));
  }

  @AfterEach
  void close() {
    near.close(LIMIT);
    far.close(LIMIT);
  }

  private static Connection lead(LocalNode node, int other) {
    Connection connection = node.remote(other).connection();
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (!connection.leading().start()) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait(); // the poller has the ring receiver for a moment
    }
    return connection;
  }

  /** The leader may have lost its core: the poller must not take what it needs to go on. */
  @Test
  void aDoorbellDoesNotKeepThePollerBusyWhileAnotherHasTheRingReceiver() {
    Connection connection = lead(near, 2);
    try {
      far.remote(1).connection().link().wakePeer();
      long poller = near.poller().threadId();
      var threads = ManagementFactory.getThreadMXBean();
      long begin = System.nanoTime();
      long before = threads.getThreadCpuTime(poller);
      while (System.nanoTime() - begin < WATCHED_NS) {
        LockSupport.parkNanos(WATCHED_NS / 10);
      }
      long used = threads.getThreadCpuTime(poller) - before;
      assertThat(used).isLessThan((System.nanoTime() - begin) / 4);
    } finally {
      connection.leading().stop();
    }
  }

  /** Who waits for a response has said so before the request is seen. */
  @Test
  void aResponseToWhoeverLooksRingsNoDoorbell() throws Exception {
    Link back = far.remote(1).connection().link();
    Connection connection = near.remote(2).connection();
    long deadline = System.nanoTime() + LIMIT.toNanos();
    // To sleep, the poller needs the ring receiver for a moment.
    while (!RunningNodes.rests(near) || connection.leading().locked()) {
      assertThat(System.nanoTime()).isLessThan(deadline);
    }
    ThreadContext context = ThreadContext.current();
    context.wantsToLead = true;
    RecordHead head = context.head.of(0, Records.REQUEST, 0, 0, 0);
    TypeEntry type = near.types().of(new Figure(2));
    assertThat(connection.sender().put(context, type, new Figure(2), RingPair.DATA, head))
        .isPositive();
    assertThat(context.leads).isTrue();
    context.leads = false;
    assertThat(back.out(RingPair.CONTROL).mustWake()).as("a doorbell is wanted").isFalse();
    connection.leading().stop();
    assertThat(near.peer(2).request(new Figure(3), Figure.class, LIMIT)).isEqualTo(new Figure(3));
  }

  private static int awaitSleep(LocalNode node, int after) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    int sleep = node.poller().sleepNumber();
    while (!Poller.sleeps(sleep) || sleep == after) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait();
      sleep = node.poller().sleepNumber();
    }
    return sleep;
  }

  /** The doorbell is read, what it was rung for is not looked at, and it is rung once. */
  @Test
  void whoLeavesSeesWhatThePollerWasWokenForAndNotLetLookAt() {
    Connection connection = near.remote(2).connection();
    Connection back = far.remote(1).connection();
    connection.runOn(
        new HookedLink(
            connection.link(),
            () -> {
              int asleep = awaitSleep(near, 0);
              back.control(Records.PONG, 0, 0);
              awaitSleep(near, asleep);
            }));
    lead(near, 2);
    awaitSleep(near, 0);
    connection.leading().stop();
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (!back.link().out(RingPair.CONTROL).drained()) {
      assertThat(System.nanoTime()).as(connection::state).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }
}
