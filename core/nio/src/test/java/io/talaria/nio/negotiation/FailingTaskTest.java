// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What fails on the negotiation thread harms nothing but itself. */
@Timeout(60)
class FailingTaskTest {
  private static final int PORT = 7005;
  private static final long DEADLINE_S = 20;

  @TempDir Path temporary;

  private final FakeTransport transport = new FakeTransport();

  private Node node() {
    return new Node(temporary.resolve("run"), transport);
  }

  private static void await(CountDownLatch latch, String what) throws InterruptedException {
    assertThat(latch.await(DEADLINE_S, TimeUnit.SECONDS)).as(what).isTrue();
  }

  @Test
  void aRepeatedTaskThatAlwaysThrowsDoesNotKeepOthersFromBeingRepeated() throws Exception {
    Node node = node();
    AtomicBoolean repeated = new AtomicBoolean();
    CountDownLatch other = new CountDownLatch(1);
    node.negotiator.repeat(
        () -> {
          if (!repeated.getAndSet(true)) {
            return false;
          }
          throw new IllegalStateException("as the test wants");
        });
    AtomicInteger turns = new AtomicInteger();
    node.negotiator.repeat(
        () -> {
          if (turns.incrementAndGet() == 100) {
            other.countDown();
          }
          return turns.get() >= 100;
        });
    await(other, "the other task has had its turns");
  }

  @Test
  void aRepeatedTaskThatAlwaysThrowsEndsAndIsReportedOnce() throws Exception {
    Node node = node();
    AtomicInteger attempts = new AtomicInteger();
    CountDownLatch other = new CountDownLatch(1);
    node.negotiator.repeat(
        () -> {
          attempts.incrementAndGet();
          throw new IllegalStateException("as the test wants");
        });
    AtomicInteger turns = new AtomicInteger();
    node.negotiator.repeat(
        () -> {
          boolean enough = turns.incrementAndGet() >= 200;
          if (enough) {
            other.countDown();
          }
          return enough;
        });
    await(other, "the other task has had its turns");
    assertThat(attempts.get()).as("attempts").isBetween(2, 50);
    assertThat(node.log).filteredOn(line -> line.contains("as the test wants")).hasSize(1);
  }

  @Test
  void aRepeatedTaskThatThrowsOnceGoesOn() throws Exception {
    Node node = node();
    AtomicInteger attempts = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(1);
    node.negotiator.repeat(
        () -> {
          if (attempts.incrementAndGet() % 3 != 0) {
            throw new IllegalStateException("now and then");
          }
          if (attempts.get() < 90) {
            return false;
          }
          done.countDown();
          return true;
        });
    await(done, "the task has ended by itself");
  }

  @Test
  void aConnectionWhosePlacingAlwaysThrowsStaysPlainAndSaysWhy() throws Exception {
    transport.places = true;
    Node node = node();
    FakeChannel bad = new FakeChannel(FakeChannel.key(1, PORT));
    bad.placing =
        () -> {
          throw new IllegalStateException("no selector, as the test wants");
        };
    FakeChannel good = new FakeChannel(FakeChannel.key(2, PORT));
    node.negotiator.connected(bad);
    node.negotiator.connected(good);
    bad.awaitPlain(Reason.INTERNAL);
    good.awaitPlain(Reason.PEER_NOT_ACCELERATED);
  }

  @Test
  void anAttemptOfAConnectionThatThrowsWhenItHearsOfItsEndIsForgotten() throws Exception {
    Node node = node();
    FakeChannel bad = new FakeChannel(FakeChannel.key(1, PORT));
    bad.hearing =
        () -> {
          throw new IllegalStateException("as the test wants");
        };
    node.negotiator.connected(bad);
    FutureTask<Integer> tick =
        new FutureTask<>(() -> node.negotiator.attempts().tickMs(System.nanoTime()));
    node.negotiator.execute(tick);
    assertThat(tick.get(DEADLINE_S, TimeUnit.SECONDS)).isEqualTo(NegotiationLoop.NO_TICK);
    assertThat(bad.reason).isEqualTo(Reason.INTERNAL);
  }

  @Test
  void aTransportThatThrowsLeavesTheConnectionPlainAndTheListenerWithAReason() throws Exception {
    transport.unavailableThrows = new IllegalStateException("as the test wants");
    Node node = node();
    assertThat(node.announce(PORT)).isEqualTo(Reason.INTERNAL);
    FakeChannel channel = new FakeChannel(FakeChannel.key(1, PORT));
    node.negotiator.connected(channel);
    channel.awaitPlain(Reason.INTERNAL);
  }

  @Test
  void anOfferThatCannotBeAnsweredForAnErrorIsRefusedAndTheSessionGoesOn() throws Exception {
    Node server = node();
    server.announce(PORT);
    try (RawSession session = RawSession.dial(server.announced(PORT))) {
      session.write(Wire.hello(RawSession.hello("fake", ByteBuffer.allocate(4))));
      session.expect(Wire.WELCOME);
      for (int i = 1; i <= 3; i++) {
        boolean fails = i != 2;
        transport.answerThrows = fails ? new IllegalStateException("as the test wants") : null;
        FakeChannel accepted = new FakeChannel(FakeChannel.key(i, PORT));
        server.negotiator.accepted(accepted);
        session.write(Wire.offer(i, accepted.key(), null, ByteBuffer.allocate(4)));
        session.expect(fails ? Wire.REFUSE : Wire.ANSWER);
        if (fails) {
          accepted.awaitPlain(Reason.INTERNAL);
        } else {
          accepted.awaitAttached();
        }
      }
    }
  }

  @Test
  void anAcceptedChannelThatThrowsWhenItGetsItsStreamStaysPlainAndTheSessionGoesOn()
      throws Exception {
    Node server = node();
    server.announce(PORT);
    try (RawSession session = RawSession.dial(server.announced(PORT))) {
      session.write(Wire.hello(RawSession.hello("fake", ByteBuffer.allocate(4))));
      session.expect(Wire.WELCOME);
      for (int i = 1; i <= 3; i++) {
        FakeChannel accepted = new FakeChannel(FakeChannel.key(i, PORT));
        if (i != 2) {
          accepted.attaching = failing();
        }
        server.negotiator.accepted(accepted);
        session.write(Wire.offer(i, accepted.key(), null, ByteBuffer.allocate(4)));
        session.expect(Wire.ANSWER); // with a stream that is withdrawn, if it fails
        if (i != 2) {
          accepted.awaitPlain(Reason.INTERNAL);
        } else {
          accepted.awaitAttached();
        }
      }
    }
    assertThat(transport.withdrawn).hasValue(2);
  }

  private static Runnable failing() {
    return () -> {
      throw new IllegalStateException("as the test wants");
    };
  }

  @Test
  void aConnectedChannelThatThrowsWhenItGetsItsStreamStaysPlainAndTheSessionGoesOn()
      throws Exception {
    Node client = node();
    client.negotiator.execute(() -> {}); // makes the directory
    client.settle();
    try (RawSession.Listener listener = new RawSession.Listener(client.directory, PORT)) {
      FakeChannel bad = new FakeChannel(FakeChannel.key(1, PORT));
      bad.attaching = failing();
      client.negotiator.connected(bad);
      try (RawSession session = listener.accept()) {
        session.expect(Wire.HELLO);
        session.write(RawSession.welcome(1));
        answer(session);
        bad.awaitPlain(Reason.INTERNAL);
        assertThat(transport.withdrawn).hasValue(1);
        FakeChannel good = new FakeChannel(FakeChannel.key(2, PORT));
        client.negotiator.connected(good);
        answer(session);
        good.awaitAttached();
      }
    }
  }

  private static void answer(RawSession session) throws Exception {
    session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), ByteBuffer.allocate(4)));
  }

  @Test
  void aSessionWhoseEndFailsStillTellsAllItsChannels() throws Exception {
    Node server = node();
    server.announce(PORT);
    FakeChannel accepted = new FakeChannel(FakeChannel.key(1, PORT));
    try (RawSession session = RawSession.dial(server.announced(PORT))) {
      session.write(Wire.hello(RawSession.hello("fake", ByteBuffer.allocate(4))));
      session.expect(Wire.WELCOME);
      server.negotiator.accepted(accepted);
      session.write(Wire.offer(1, accepted.key(), null, ByteBuffer.allocate(4)));
      session.expect(Wire.ANSWER);
      transport.goneThrows = new IllegalStateException("as the test wants");
    }
    accepted.awaitLost();
    server.settle();
  }

  @Test
  void aFileThatCannotBeRemovedDoesNotKeepOthersFromBeingSwept() throws Exception {
    Node first = node();
    first.announce(PORT);
    Path live = first.announced(PORT);
    String id = live.getFileName().toString().substring(("l-" + PORT + "-").length());
    String ended = EndedProcess.digitsLike(id);
    Path early = Files.createFile(first.directory.resolve("l-2-" + ended));
    for (int i = 0; i < 20; i++) { // a file is listed after them, in whatever order
      Path folder = Files.createDirectory(first.directory.resolve("l-" + (100 + i) + "-" + ended));
      Files.createFile(folder.resolve("not empty"));
    }
    Path left = Files.createFile(first.directory.resolve("l-1-" + ended));
    Node second = new Node(first.directory, transport);
    second.settle();
    assertThat(early).doesNotExist();
    assertThat(left).doesNotExist();
  }
}
