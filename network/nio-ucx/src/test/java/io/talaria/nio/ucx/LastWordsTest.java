// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.transport.TransportStream.BROKEN;
import static io.talaria.nio.transport.TransportStream.END;
import static io.talaria.nio.transport.TransportStream.READ;
import static io.talaria.nio.transport.TransportStream.RESET;
import static io.talaria.nio.transport.TransportStream.WRITE;
import static io.talaria.nio.ucx.Itself.readToTheEnd;
import static io.talaria.nio.ucx.Itself.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.transport.TransportException;
import io.talaria.nio.ucx.Itself.Connection;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The end of the control connection is here before what the peer has sent by UCX, or has still to
 * send: what that means, how long it is waited for, and who is woken then.
 */
@Timeout(60)
class LastWordsTest {
  private static final long PID = 4_000_004;

  private Itself itself;

  @BeforeEach
  void open() throws TransportException {
    assumeTrue(Variant.possible(), "no UCX here");
    itself = new Itself(new UcxTransport(false), PID, false);
  }

  @AfterEach
  void close() {
    if (itself != null) {
      itself.endSession();
    }
  }

  private Connection connect() throws TransportException {
    return itself.connect(null, new FakeOwner());
  }

  private static int readOnce(UcxStream stream) {
    return stream.read(ByteBuffer.allocate(1));
  }

  private static void assertExpects(UcxStream stream) {
    assertThat(stream.controlEnded(false)).isFalse();
    assertThat(stream.expectsMore()).isTrue();
    assertThat(readOnce(stream)).isZero();
    assertThat(stream.readiness(READ)).isZero();
  }

  /** After the end of the control connection. */
  private static void assertSettles(UcxStream stream, int how) {
    until(() -> !stream.expectsMore());
    assertThat(readOnce(stream)).isEqualTo(how);
    assertThat(stream.readiness(READ)).isEqualTo(READ);
    assertThat(stream.controlEnded(false)).isEqualTo(how == RESET);
  }

  /** Writes until there has been no room for a while, with nothing under way. */
  private static void fill(UcxStream from, UcxStream to) {
    int idle = 0;
    long total = 0;
    while (idle < 200 || total == 0) {
      int count = from.write(ByteBuffer.allocate(1 << 16));
      assertThat(count).isNotNegative();
      total += count;
      idle = count == 0 && !from.sending() ? idle + 1 : 0;
      int unused = to.readiness(READ) | from.readiness(READ);
    }
  }

  // ---- a peer that lives

  @Test
  void bytesBehindTheControlConnectionArrive() throws Exception {
    Connection connection = connect();
    assertExpects(connection.client);
    Itself.write(connection.server, 100_000);
    connection.server.finishOutput();
    assertThat(readToTheEnd(connection.client, 100_000)).isEqualTo(END);
    assertSettles(connection.client, END);
  }

  @Test
  void theSwitchBehindTheControlConnectionArrives() throws Exception {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.agree();
    connection.client.switchOut(0);
    assertExpects(connection.client);
    connection.server.switchOut(0);
    Itself.write(connection.server, 100);
    connection.server.finishOutput();
    until(() -> connection.client.peerSwitchAt() == 0);
    assertThat(readToTheEnd(connection.client, 100)).isEqualTo(END);
    assertSettles(connection.client, END);
  }

  @Test
  void anEndThatIsHereAlreadyIsNotWaitedFor() throws Exception {
    Connection connection = connect();
    Itself.write(connection.server, 100);
    connection.server.finishOutput();
    until(() -> connection.client.available() == 100);
    assertThat(connection.client.controlEnded(false)).isFalse();
    assertThat(connection.client.expectsMore()).isFalse();
    assertThat(readToTheEnd(connection.client, 100)).isEqualTo(END);
  }

  /** It says how its output ends: if that never comes, bytes may be missing before it, too. */
  @Test
  void aPeerThatLivesAndDoesNotSayHowItEndsHasReset() throws Exception {
    Connection connection = connect();
    assertExpects(connection.client);
    Itself.write(connection.server, 100);
    assertThat(readToTheEnd(connection.client, 100)).isEqualTo(RESET);
    assertSettles(connection.client, RESET);
  }

  /** Perhaps it has stayed on TCP, where nothing is missing. */
  @Test
  void aPeerThatLivesAndDoesNotSayWhatItDecidesHasEnded() throws Exception {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.client.acceptInput();
    assertExpects(connection.client);
    assertSettles(connection.client, END);
  }

  @Test
  void aResetIsNotWaitedFor() throws Exception {
    Connection connection = connect();
    assertThat(connection.client.controlEnded(true)).isTrue();
    assertThat(connection.client.expectsMore()).isFalse();
    assertThat(readOnce(connection.client)).isEqualTo(RESET);
  }

  @Test
  void theFirstEndCounts() throws Exception {
    Connection connection = connect();
    assertExpects(connection.client);
    assertThat(connection.client.controlEnded(true)).isFalse();
    assertThat(connection.client.expectsMore()).isTrue();
    connection.server.finishOutput();
    assertThat(readToTheEnd(connection.client, 0)).isEqualTo(END);
  }

  // ---- a peer whose output cannot have switched

  @Test
  void whatIsNotAgreedIsNotWaitedFor() throws Exception {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.server.acceptInput();
    itself.deliver();
    assertThat(connection.client.controlEnded(false)).isFalse();
    assertThat(connection.client.expectsMore()).isFalse();
    assertThat(connection.server.controlEnded(false)).isFalse();
    assertThat(connection.server.expectsMore()).isFalse();
  }

  @Test
  void aClientThatDoesNotKnowWaitsUntilItIsWithdrawn() throws Exception {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.client.acceptInput();
    assertExpects(connection.client);
    assertThat(connection.server.withdraw()).isTrue();
    itself.deliver();
    assertThat(connection.client.withdrawn()).isTrue();
    until(() -> !connection.client.expectsMore());
  }

  @Test
  void aClientThatDoesNotKnowWaitsForASwitch() throws Exception {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.client.acceptInput();
    itself.deliver();
    connection.server.acceptInput(); // of which the client is told later
    assertExpects(connection.client);
    connection.server.switchOut(0);
    connection.server.finishOutput();
    until(() -> connection.client.peerSwitchAt() == 0);
    assertThat(readToTheEnd(connection.client, 0)).isEqualTo(END);
    itself.deliver();
    assertThat(connection.client.established()).isTrue();
  }

  @Test
  void aServerDoesNotWaitForAClientWhoseOutputStaysOnTcp() throws Exception {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.client.acceptInput();
    itself.deliver();
    connection.server.acceptInput();
    assertThat(connection.client.withdraw()).as("its own output stays on TCP").isTrue();
    assertExpects(connection.server);
    itself.deliver(); // of both at once
    assertThat(connection.server.established()).isTrue();
    until(() -> !connection.server.expectsMore());
    Connection next = itself.new Connection(null, new FakeOwner());
    next.client.acceptInput();
    itself.deliver();
    next.server.acceptInput();
    assertThat(next.client.withdraw()).isTrue();
    itself.deliver();
    assertThat(next.server.controlEnded(false)).isFalse();
    assertThat(next.server.expectsMore()).isFalse();
  }

  // ---- a client that ends its output on TCP, and goes on reading

  /** Told the transport after its consent, and before it knows of the decision. */
  private Connection halfClosed(boolean beforeItsConsentIsHere) throws TransportException {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.client.acceptInput();
    if (beforeItsConsentIsHere) {
      connection.server.acceptInput();
      assertThat(connection.client.withdraw()).as("its own output stays on TCP").isTrue();
      assertThat(connection.server.controlEnded(false)).isFalse();
      itself.deliver();
    } else {
      itself.deliver();
      connection.server.acceptInput();
      assertThat(connection.client.withdraw()).as("its own output stays on TCP").isTrue();
      assertExpects(connection.server);
      itself.deliver();
    }
    until(() -> !connection.server.expectsMore());
    assertThat(connection.server.controlEnded(false)).isFalse();
    assertThat(connection.server.outputGoesOn()).isTrue();
    connection.server.switchOut(0);
    return connection;
  }

  private static void assertReadsOn(Connection connection) {
    Itself.write(connection.server, 100_000);
    connection.server.finishOutput();
    assertThat(readToTheEnd(connection.client, 100_000)).isEqualTo(END);
  }

  @Test
  void aClientReadsOnWhoseOutputHasEndedBeforeItKnew() throws Exception {
    assertReadsOn(halfClosed(false));
  }

  @Test
  void aClientReadsOnWhoseOutputHasEndedBeforeItsConsentIsHere() throws Exception {
    assertReadsOn(halfClosed(true));
  }

  @Test
  void nobodyReadsOnceSuchAClientIsReleased() throws Exception {
    Connection connection = halfClosed(false);
    connection.client.release();
    until(
        () -> {
          itself.deliver();
          return !connection.server.outputGoesOn();
        });
    assertThat(connection.server.flushed()).isTrue();
    assertThat(connection.server.write(ByteBuffer.allocate(1))).isEqualTo(1); // as TCP does
    assertThat(connection.server.write(ByteBuffer.allocate(1))).isEqualTo(BROKEN);
  }

  @Test
  void aWriterIsWokenWhenSuchAClientIsGone() throws Exception {
    Connection connection = halfClosed(false);
    fill(connection.server, connection.client);
    assertThat(connection.server.await(WRITE)).isTrue();
    itself.endSession();
    assertThat(connection.server.outputGoesOn()).isFalse();
    assertThat(connection.server.readiness(WRITE)).isEqualTo(WRITE);
    connection.server.awake(WRITE);
    // The client is gone with bytes unread: a reset, unless its own end has been heard before.
    assertThat(connection.server.write(ByteBuffer.allocate(1))).isIn(RESET, BROKEN);
    assertThat(connection.server.write(ByteBuffer.allocate(1))).isEqualTo(BROKEN);
  }

  // ---- a peer that is gone

  @Test
  void whoSleepsIsWokenWhenAPeerThatIsGoneIsWaitedForNoLonger() throws Exception {
    FakeOwner owner = new FakeOwner();
    Connection connection = itself.connect(null, owner);
    assertExpects(connection.client);
    assertThat(connection.client.await(READ)).isTrue();
    owner.forget();
    itself.endSession();
    owner.assertWoken();
    connection.client.awake(READ);
    assertSettles(connection.client, END);
  }

  @Test
  void aReadySetThatSleepsIsWokenThen() throws Exception {
    UcxReadySet readySet = new UcxReadySet(itself.transport);
    FakeOwner owner = new FakeOwner();
    Connection connection = itself.connect(readySet, owner);
    assertExpects(connection.client);
    assertThat(connection.client.watch(READ)).isTrue();
    assertThat(readySet.arm()).isTrue();
    owner.forget();
    itself.endSession();
    owner.assertWoken();
    readySet.disarm();
    assertThat(readySet.drainReady(stream -> assertThat(stream).isSameAs(connection.client), 9))
        .isEqualTo(1);
    assertSettles(connection.client, END);
    connection.client.moveTo(null);
    readySet.close();
  }

  /** What is in the peer's queue is read all the same. */
  @Test
  void aPeerThatIsGoneWithBytesUnreadHasReset() throws Exception {
    Connection connection = connect();
    Itself.write(connection.server, 10);
    fill(connection.client, connection.server);
    assertThat(connection.client.controlEnded(false)).isFalse();
    assertThat(connection.client.expectsMore()).isTrue();
    itself.endSession();
    assertThat(readToTheEnd(connection.client, 10)).isEqualTo(RESET);
    assertThat(connection.client.readiness(WRITE)).isEqualTo(WRITE);
    assertSettles(connection.client, RESET);
  }

  /** UCX may be done with it later, for the queue outlives its reader. */
  @Test
  void aPeerThatIsGoneWhileBytesAreUnderWayHasReset() throws Exception {
    Connection connection = connect();
    Engine there = connection.server.engine();
    there.enter(); // no other thread takes anything before it counts as under way
    try {
      int count = 1;
      while (count > 0) { // until one queue or the other is full, long before the window may be
        count = connection.client.write(ByteBuffer.allocate(1 << 16));
      }
      assertThat(connection.client.controlEnded(false)).isFalse();
    } finally {
      there.exit();
    }
    for (int i = 0; i < 1_000; i++) {
      int unused = connection.server.readiness(READ) | connection.client.readiness(READ);
    }
    itself.endSession();
    assertSettles(connection.client, RESET);
  }

  @Test
  void aStreamThatIsReleasedMeanwhileIsForgotten() throws Exception {
    Connection connection = connect();
    assertExpects(connection.client);
    connection.client.release();
    until(() -> !connection.client.expectsMore());
    connection.server.release();
    until(
        () -> {
          itself.deliver();
          return itself.transport.ends() == 0;
        });
  }
}
