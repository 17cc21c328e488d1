// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The side that connects, seen by listeners that say what they like. */
@Timeout(60)
class AttemptTest {
  private static final int PORT = 7004;
  private static final ByteBuffer PAYLOAD = ByteBuffer.allocate(4);

  @TempDir Path temporary;

  private final FakeTransport transport = new FakeTransport();
  private Node client;
  private Path directory;
  private int ports;

  @BeforeEach
  void open() throws Exception {
    directory = temporary.resolve("run");
    client = new Node(directory, transport);
    client.negotiator.execute(() -> {}); // makes the directory
    client.settle();
  }

  @AfterEach
  void check() throws Exception {
    client.settle();
    client.assertNoFailure();
  }

  private FakeChannel connect() {
    FakeChannel channel = new FakeChannel(FakeChannel.key(++ports, PORT));
    client.negotiator.connected(channel);
    return channel;
  }

  private static RawSession greet(RawSession.Listener listener) throws Exception {
    RawSession session = listener.accept();
    session.expect(Wire.HELLO);
    session.write(RawSession.welcome(1));
    return session;
  }

  private void awaitGone(int peers) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (transport.gone.size() < peers) {
      assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  // ---- crowds
  // --------------------------------------------------------------------------------------

  @Test
  void offersThatDoNotFitWaitUntilThePeerReads() throws Exception {
    int many = 2_000;
    transport.payloadBytes = 1_500; // three times what may be queued
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      List<FakeChannel> channels = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        channels.add(connect());
      }
      try (RawSession session = greet(listener)) {
        client.settle(); // nothing has been read: the queue is full
        assertThat(transport.offers.get()).isLessThan(many);
        for (int i = 0; i < many; i++) {
          session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        }
        for (FakeChannel channel : channels) {
          channel.awaitAttached();
        }
      }
    }
    awaitGone(1);
  }

  /** Its addresses may be another connection's by now, for which the peer has taken the offer. */
  @Test
  void aChannelWhoseConnectionIsOverTakesNoStream() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        int offer = Wire.id(session.expect(Wire.OFFER));
        channel.over = true;
        session.write(Wire.answer(offer, PAYLOAD));
        channel.awaitPlain(Reason.CLOSED_EARLY);
        assertThat(channel.attachments).hasValue(0);
        assertThat(transport.withdrawn).hasValue(1);
        assertThat(transport.released).hasValue(1);
      }
    }
  }

  @Test
  void aWelcomeIsHeardWhileTheProgramConnectsWithoutPause() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel first = connect();
      try (RawSession session = greet(listener)) {
        AtomicBoolean heard = new AtomicBoolean();
        client.negotiator.execute(
            new Runnable() {
              @Override
              public void run() { // as if each connection brought another
                if (!heard.get()) {
                  client.negotiator.execute(this);
                }
              }
            });
        session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        first.awaitAttached();
        heard.set(true);
      }
    }
    awaitGone(1);
  }

  /** However many there are: a turn of the thread costs the same. */
  @Test
  void whoWaitsForAnAnswerIsLookedAtWhenTheTimeHasComeAndThenNoMore() throws Exception {
    int many = 500;
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      List<FakeChannel> channels = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        channels.add(connect());
      }
      try (RawSession session = greet(listener)) {
        int first = Wire.id(session.expect(Wire.OFFER));
        assertThat(tickMs()).isNotEqualTo(NegotiationLoop.NO_TICK);
        for (int i = 1; i < many; i++) {
          session.expect(Wire.OFFER);
        }
        for (FakeChannel channel : channels) {
          channel.awaitPlain(Reason.NOT_MATCHED);
        }
        assertThat(tickMs()).isEqualTo(NegotiationLoop.NO_TICK);
        session.write(Wire.answer(first, PAYLOAD));
        channels.get(0).awaitAttached();
      }
    }
    awaitGone(1);
  }

  private int tickMs() throws Exception {
    FutureTask<Integer> tick =
        new FutureTask<>(() -> client.negotiator.attempts().tickMs(System.nanoTime()));
    client.negotiator.execute(tick);
    return tick.get(20, TimeUnit.SECONDS);
  }

  // ---- finding
  // -------------------------------------------------------------------------------------

  @Test
  void withoutAnAnnouncementThePeerIsPlain() throws Exception {
    connect().awaitPlain(Reason.PEER_NOT_ACCELERATED);
    assertThat(transport.offers).hasValue(0);
  }

  @Test
  void aListenerThatAnnouncesItselfAMomentLaterIsFound() throws Exception {
    assertFindsALaterListener();
  }

  @Test
  void aListenerThatComesBackAfterAKillIsFoundThoughItsOldNameRefuses() throws Exception {
    new RawSession.Listener(directory, PORT).close();
    assertFindsALaterListener();
  }

  private void assertFindsALaterListener() throws Exception {
    FakeChannel channel = connect();
    channel.awaitPlain(Reason.PEER_NOT_ACCELERATED);
    CountDownLatch held = client.hold(); // or its last look may come before the listener
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      held.countDown();
      try (RawSession session = greet(listener)) {
        session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        channel.awaitAttached();
      }
    }
  }

  @Test
  void namesThatBelongToNobodyAreRemoved() throws Exception {
    Path stale;
    try (RawSession.Listener dead = new RawSession.Listener(directory, PORT)) {
      stale = dead.path;
    }
    Path file = Files.createFile(directory.resolve("l-" + PORT + "-0000000000000000"));
    Path other = Files.createFile(directory.resolve("l-" + PORT + "9-ffffffffffffffff"));
    assertThat(stale).exists();

    connect().awaitPlain(Reason.PEER_NOT_ACCELERATED);

    assertThat(stale).doesNotExist();
    assertThat(file).doesNotExist();
    assertThat(other).exists(); // of another port
  }

  @Test
  void anAnnouncementBesideStaleNamesIsFound() throws Exception {
    for (int i = 0; i < 5; i++) {
      new RawSession.Listener(directory, PORT).close();
    }
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        channel.awaitAttached();
      }
    }
  }

  @Test
  void aDirectoryThatOthersMayReadIsNotUsed() throws Exception {
    Files.setPosixFilePermissions(
        directory, java.nio.file.attribute.PosixFilePermissions.fromString("rwxr-xr-x"));
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      connect().awaitPlain(Reason.INSECURE_DIR);
      assertThat(listener.path).exists();
    }
    assertThat(transport.peers).isEmpty();
  }

  @Test
  void aDirectoryThatVanishedIsMadeAgain() throws Exception {
    Files.delete(directory);
    connect().awaitPlain(Reason.PEER_NOT_ACCELERATED);
    assertThat(directory).isDirectory();
  }

  @Test
  void theSilenceOfOneAnnouncementLeadsToTheNext() throws Exception {
    try (RawSession.Listener one = new RawSession.Listener(directory, PORT);
        RawSession.Listener two = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      RawSession.Listener[] both = first(one, two);
      try (RawSession silent = greet(both[0])) {
        int id = Wire.id(silent.expect(Wire.OFFER));
        assertThat(Wire.id(silent.expect(Wire.WITHDRAW))).isEqualTo(id);
        silent.write(Wire.refuse(id, Reason.CLOSED_EARLY));
        try (RawSession next = greet(both[1])) {
          next.write(Wire.answer(Wire.id(next.expect(Wire.OFFER)), PAYLOAD));
          channel.awaitAttached();
        }
      }
    }
  }

  /** Which of two the client asks first: the one that the directory names first. */
  private RawSession.Listener[] first(RawSession.Listener one, RawSession.Listener two)
      throws TransportException {
    String asked = client.negotiator.dialler().candidates(PORT).get(0);
    boolean inOrder = one.path.getFileName().toString().equals(asked);
    return inOrder ? new RawSession.Listener[] {one, two} : new RawSession.Listener[] {two, one};
  }

  // ---- a session that ends, at each of its states
  // --------------------------------------------------------

  @Test
  void aListenerThatHangsUpAtOnceLeavesTheConnectionPlain() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      listener.accept().close();
      channel.awaitPlain(Reason.PEER_LOST);
      awaitGone(1);
    }
  }

  @Test
  void aListenerThatNeverWelcomesIsGivenUp() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = listener.accept()) {
        session.awaitEnd();
        channel.awaitPlain(Reason.TIMED_OUT);
        awaitGone(1);
      }
    }
  }

  @Test
  void aRejectionIsTheReasonOfAllThatWaited() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel first = connect();
      FakeChannel second = connect();
      try (RawSession session = listener.accept()) {
        session.expect(Wire.HELLO);
        client.settle();
        session.write(Wire.reject(Reason.OTHER_NAMESPACE));
        session.awaitEnd();
      }
      first.awaitPlain(Reason.OTHER_NAMESPACE);
      second.awaitPlain(Reason.OTHER_NAMESPACE);
      awaitGone(1);
    }
  }

  @Test
  void anOfferWithoutAnswerEndsWithItsSession() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        session.expect(Wire.OFFER);
      }
      channel.awaitPlain(Reason.PEER_LOST);
      assertThat(transport.cancelled).containsExactly(Reason.PEER_LOST);
    }
  }

  @Test
  void aSessionThatEndedIsDialledAgainForTheNextConnection() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      connect();
      greet(listener).close();
      awaitGone(1);
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        channel.awaitAttached();
      }
    }
  }

  @Test
  void theChannelsOfASessionThatEndsAreWatchedUntilTheirPeerIsLost() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        channel.awaitAttached();
      }
      channel.awaitLost();
    }
  }

  // ---- answers
  // -------------------------------------------------------------------------------------

  @Test
  void aRefusalIsTheConnectionsReason() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        session.write(Wire.refuse(Wire.id(session.expect(Wire.OFFER)), Reason.SHM_FULL));
        channel.awaitPlain(Reason.SHM_FULL);
        assertThat(transport.cancelled).containsExactly(Reason.SHM_FULL);
        FakeChannel second = connect(); // the session goes on
        session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        second.awaitAttached();
      }
    }
  }

  @Test
  void anAnswerThatNobodyAskedForEndsTheSession() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        int id = Wire.id(session.expect(Wire.OFFER));
        session.write(Wire.answer(id + 1, PAYLOAD));
        session.awaitEnd();
      }
      channel.awaitPlain(Reason.PROTOCOL);
      assertThat(channel.attachments).hasValue(0);
    }
  }

  @Test
  void anAnswerThatMakesNoSenseEndsTheSessionAndIsTheConnectionsReason() throws Exception {
    transport.senseless = Reason.PROTOCOL;
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        session.write(Wire.answer(Wire.id(session.expect(Wire.OFFER)), PAYLOAD));
        session.awaitEnd();
      }
      channel.awaitPlain(Reason.PROTOCOL);
      assertThat(channel.attachments).hasValue(0);
    }
  }

  @Test
  void anAnswerThatComesTwiceEndsTheSession() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        int id = Wire.id(session.expect(Wire.OFFER));
        session.write(Wire.answer(id, PAYLOAD));
        session.write(Wire.answer(id, PAYLOAD));
        session.awaitEnd();
        awaitGone(1);
      }
      assertThat(channel.attachments).hasValue(1);
    }
  }

  @Test
  void framesThatOnlyADiallerMaySendEndTheSession() throws Exception {
    int ended = 0;
    for (ByteBuffer frame :
        new ByteBuffer[] {
          Wire.hello(RawSession.hello("fake", PAYLOAD)),
          Wire.offer(1, FakeChannel.key(1, PORT), null, PAYLOAD),
          Wire.withdraw(1),
          RawSession.welcome(2)
        }) {
      try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
        FakeChannel channel = connect();
        try (RawSession session = greet(listener)) {
          session.expect(Wire.OFFER);
          session.write(frame);
          session.awaitEnd();
        }
        channel.awaitPlain(Reason.PROTOCOL);
        awaitGone(++ended);
      }
    }
  }

  @Test
  void aChannelThatTakesNoStreamWithdrawsAndReleasesIt() throws Exception {
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      FakeChannel channel = connect();
      try (RawSession session = greet(listener)) {
        int id = Wire.id(session.expect(Wire.OFFER));
        channel.close();
        session.write(Wire.answer(id, PAYLOAD));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (transport.released.get() == 0) {
          assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
          Thread.sleep(1);
        }
        assertThat(transport.withdrawn).hasValue(1);
      }
    }
  }

  @Test
  void aTransportWithoutRoomLeavesTheConnectionPlainWithItsReason() throws Exception {
    transport.refusal = Reason.SHM_FULL;
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      connect().awaitPlain(Reason.SHM_FULL);
      listener.accept().awaitEnd();
      assertThat(client.log).containsExactly("shm-full: as the test wants");
    }
  }
}
