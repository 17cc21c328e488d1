// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.Request;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.transport.RingPair;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What becomes of requests whose connection ends before they are sent, or before their response is
 * read.
 */
@Timeout(180)
class EndingConnectionTest {
  record Figure(long value) {}

  @TempDir Path directory;
  private final Map<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
  private final AtomicInteger executed = new AtomicInteger();
  private LocalNode near;
  private LocalNode far;

  @AfterEach
  void close() {
    RunningNodes.close(near, far);
  }

  private LocalNode start(int id, Transport transport) throws Exception {
    return RunningNodes.start(
        RunningNodes.options(id, transport, directory, addresses)
            .handle(Figure.class, Dispatch.INLINE, this::respond),
        addresses);
  }

  private void respond(Figure figure, Request request) {
    executed.incrementAndGet();
    request.respond(figure);
  }

  private Connection connect(Transport transport) throws Exception {
    far = start(2, transport);
    near = start(1, transport);
    assertThat(near.peer(2).request(new Figure(1), Figure.class, LIMIT)).isEqualTo(new Figure(1));
    return near.remote(2).connection();
  }

  private CompletableFuture<Figure> request(boolean async) {
    CompletableFuture<Figure> result = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                Figure asked = new Figure(2);
                result.complete(
                    async
                        ? near.peer(2).requestAsync(asked, Figure.class, LIMIT).await(LIMIT)
                        : near.peer(2).request(asked, Figure.class, LIMIT));
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    return result;
  }

  private void assertExecutedOnce(CompletableFuture<Figure> result) throws Exception {
    assertThat(result.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(new Figure(2));
    assertThat(executed).as("requests executed").hasValue(2);
    assertThat(near.counters().lateResponses()).isZero();
  }

  /** Sealed, as one that gives way to others is until it has ended. */
  @ParameterizedTest
  @CsvSource({"SHM, false", "SHM, true", "TCP, false", "UCX, false", "VERBS, false"})
  void aRequestThatFindsItsConnectionSealedGoesToTheNextOne(Transport transport, boolean async)
      throws Exception {
    Connection old = connect(transport);
    old.sender().sealData();
    CompletableFuture<Figure> result = request(async);
    await(() -> near.remote(2).hasWaiters());
    near.poller().dropSoon(old, "the test ends it");
    assertExecutedOnce(result);
  }

  @ParameterizedTest
  @CsvSource({"SHM, false", "SHM, true", "TCP, false", "UCX, false", "VERBS, false"})
  void aRequestThatWaitsForRoomGoesToTheNextConnection(Transport transport, boolean async)
      throws Exception {
    Connection old = connect(transport);
    int receiver = Records.what(near.types().of(new Figure(2)).index, Records.REQUEST);
    await(() -> old.sender().idle());
    old.holds().received(receiver, 1);
    CompletableFuture<Figure> result = request(async);
    await(() -> !old.sender().idle());
    near.poller().dropSoon(old, "the test ends it");
    assertExecutedOnce(result);
  }

  /** A leader, here the test's thread, has the ring receiver while the poller finds the end. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void aResponseThatHasComeBeforeTheEndIsNotLost(Transport transport) throws Exception {
    Connection here = connect(transport);
    await(() -> here.leading().tryLock());
    CompletableFuture<Figure> result;
    try {
      result = request(true);
      await(() -> executed.get() == 2);
      await(
          () -> {
            readSession(here);
            return here.link().in(RingPair.CONTROL).peek() != 0;
          });
      far.poller().dropSoon(far.remote(1).connection(), "the test ends it");
      await(
          () -> {
            readSession(here);
            near.poller().wake();
            return here.dead(); // the poller ends it, and waits for the ring receiver
          });
    } finally {
      here.leading().unlock();
    }
    assertExecutedOnce(result);
  }

  /** As a leader does, if records come by the session. */
  private static void readSession(Connection connection) {
    if (connection.link().readsSession()) {
      boolean ignored = connection.link().pull();
    }
  }

  /** The thread that ends a connection may have seen the request there just before. */
  @Test
  void aConnectionFailsNoRequestThatHasLeftIt() throws Exception {
    Connection from = connect(Transport.SHM);
    Connection to = far.remote(1).connection();
    ResponseSlot slot = new ResponseSlot(0);
    int before = slot.open(from);
    int after = slot.moveTo(to, before);
    assertThat(slot.fail(from, before, Code.LOST, "")).isFalse();
    slot.failOpen(from, Code.LOST, "");
    assertThat(slot.isOpen()).isTrue();

    slot.failOpen(to, Code.LOST, "");
    assertThat(slot.done(after)).isTrue();
    int again = slot.moveTo(from, after);
    assertThat(slot.isOpen()).isTrue();
    assertThat(slot.fail(from, again, Code.LOST, "")).isTrue();
  }
}
