// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.ucx.Itself.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import io.talaria.nio.ucx.Itself.Connection;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Memory is short for a moment. While bytes come, the stream whose bytes are lost is reset, never
 * continued behind a hole, and no other stream of its engine misses anything. What could not be
 * done is done later.
 */
@Timeout(60)
class ShortMemoryTest {
  private static final long PID = 4_000_006;
  private static final int COUNT = 100;

  /** In the place of an OutOfMemoryError, at which JUnit gives up all tests. */
  private static final class Shortage extends VirtualMachineError {
    private static final long serialVersionUID = 1;

    Shortage() {
      super("memory is short, says the test");
    }
  }

  private FailingBinding failing;
  private Itself itself;
  private UcxReadySet serverReadySet;

  @BeforeEach
  void open() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    failing = new FailingBinding(Bindings.open());
    UcxTransport transport = new UcxTransport(false, () -> failing.binding);
    itself = new Itself(transport, PID, false);
    serverReadySet = new UcxReadySet(transport);
    itself.serverReadySet = serverReadySet; // so that all servers have one engine
  }

  @AfterEach
  void close() {
    if (serverReadySet != null) {
      serverReadySet.close();
    }
  }

  private Connection connect() throws TransportException {
    return itself.connect(null, new FakeOwner());
  }

  /** The first so many calls that copy what has come find no memory. */
  private void failCopies(int count) {
    AtomicInteger left = new AtomicInteger(count);
    failing.on(
        "copyTo",
        call -> {
          if (left.getAndDecrement() > 0) {
            throw new Shortage();
          }
          return call.proceed();
        });
  }

  /** All calls of that name find no memory. */
  private void failAll(String method) {
    failing.on(
        method,
        call -> {
          throw new Shortage();
        });
  }

  /** Which one lacks bytes is UCX's choice: the first that it names. */
  @Test
  void theStreamThatLacksBytesIsResetAndNoOtherIs() throws Exception {
    List<Connection> connections = List.of(connect(), connect(), connect());
    Engine engine = connections.get(0).server.engine();
    assertThat(connections).allSatisfy(each -> assertThat(each.server.engine()).isSameAs(engine));
    engine.enter(); // no other thread takes anything
    try {
      connections.forEach(each -> Itself.write(each.client, COUNT));
      failCopies(1);
      until(() -> connections.stream().allMatch(ShortMemoryTest::settled));
    } finally {
      engine.exit();
    }
    int reset = 0;
    for (Connection each : connections) {
      Itself.write(each.client, 7); // more of it is taken where nothing lacks only
      if (each.server.available() == 0) {
        reset++;
        assertThat(each.server.read(ByteBuffer.allocate(1))).isEqualTo(TransportStream.RESET);
      } else {
        each.client.finishOutput();
        readAll(each);
      }
      each.end();
    }
    assertThat(reset).isEqualTo(1);
  }

  /** Whether all that was sent has come, or is lost; the engine is entered. */
  private static boolean settled(Connection connection) {
    connection.client.engine().lookIn();
    connection.server.engine().turn();
    return connection.server.available() == COUNT || connection.server.breached();
  }

  private static void readAll(Connection connection) {
    ByteBuffer got = ByteBuffer.allocate(COUNT + 8);
    until(
        () -> {
          int end = connection.server.read(got);
          assertThat(end).as("read").isNotEqualTo(TransportStream.RESET);
          return end == TransportStream.END;
        });
    assertThat(got.flip().remaining()).isEqualTo(COUNT + 7);
    for (int i = 0; i < COUNT + 7; i++) {
      assertThat(got.get(i)).isEqualTo((byte) (i % COUNT + 1));
    }
  }

  /** What has come before the hole is read. */
  @Test
  void whatCameBeforeIsRead() throws Exception {
    Connection connection = connect();
    Itself.write(connection.client, 100);
    until(() -> connection.server.readiness(TransportStream.READ) != 0);
    failCopies(1);
    Itself.write(connection.client, 50);
    until(() -> connection.server.readiness(TransportStream.READ) != 0 && failed(connection));
    Itself.write(connection.client, 25);
    assertThat(Itself.readToTheEnd(connection.server, 100)).isEqualTo(TransportStream.RESET);
    connection.end();
  }

  private static boolean failed(Connection connection) {
    Engine engine = connection.server.engine();
    engine.enter();
    try {
      engine.turn();
      return connection.server.breached();
    } finally {
      engine.exit();
    }
  }

  @Test
  void aThreadThatWaitsIsWoken() throws Exception {
    FakeOwner owner = new FakeOwner();
    Connection connection = connect();
    connection.server.owner(owner, null);
    assertThat(connection.server.await(TransportStream.READ)).isTrue();
    owner.forget();
    failCopies(1);
    Itself.write(connection.client, 50);
    owner.assertWoken();
    assertThat(connection.server.read(ByteBuffer.allocate(1))).isEqualTo(TransportStream.RESET);
    connection.end();
  }

  /** A binding that finds no memory for a send has not given it to UCX. */
  @Test
  void whatCannotBeSentForLackOfMemoryIsSentLater() throws Exception {
    Connection connection = connect();
    failAll("sendStream");
    ByteBuffer bytes = ByteBuffer.wrap(new byte[] {1, 2, 3});
    assertThatThrownBy(() -> connection.client.write(bytes)).isInstanceOf(Shortage.class);
    failing.restore("sendStream");
    connection.client.finishOutput();
    assertThat(Itself.readToTheEnd(connection.server, 3)).isEqualTo(TransportStream.END);
    connection.end();
  }

  @Test
  void aWayWhoseCloseFindsNoMemoryIsClosedLater() throws Exception {
    int ends = itself.transport.ends();
    AtomicInteger tried = new AtomicInteger();
    AtomicInteger closed = new AtomicInteger();
    failing.on(
        "closeForced",
        call -> {
          if (tried.getAndIncrement() == 0) {
            throw new Shortage();
          }
          Object answer = call.proceed();
          closed.incrementAndGet();
          return answer;
        });
    connect().end();
    until(
        () -> {
          itself.deliver();
          return itself.transport.ends() == ends;
        });
    assertThat(closed).as("both ends").hasValue(2);
  }

  /** The way cannot be made: that connection stays on TCP, and leaves nothing behind. */
  @ParameterizedTest
  @ValueSource(strings = {"connect", "newBlock"})
  void aConnectionForWhichThereIsNoMemoryStaysOnTcp(String method) throws Exception {
    int ends = itself.transport.ends();
    Upgrade offer = itself.transport.offer(itself.toServer);
    Upgrade answer = itself.answer(offer);
    UcxStream client = (UcxStream) offer.stream();
    UcxStream server = (UcxStream) answer.stream();
    failAll(method);
    server.owner(new FakeOwner(), null);
    assertThat(server.withdrawn()).as("the server is on TCP").isTrue();
    offer.answered(answer.payload());
    assertThat(offer.worthless()).isEqualTo(Reason.LIMIT);
    failing.restore(method);
    assertThat(client.withdraw()).isTrue();
    client.release();
    server.release();
    until(
        () -> {
          itself.deliver();
          return client.over() && server.over() && itself.transport.ends() == ends;
        });
  }

  /** The way is made, but its first word cannot be sent: it follows. */
  @Test
  void aConnectionWhoseFirstWordFindsNoMemoryIsUsed() throws Exception {
    failAll("sendStream");
    Connection connection = itself.new Connection(null, new FakeOwner());
    failing.restore("sendStream");
    connection.agree();
    connection.client.switchOut(0);
    connection.server.switchOut(0);
    until(() -> switched(connection.server) && switched(connection.client));
    connection.exchange();
    connection.end();
  }

  /** The program gets what a read has taken; that more may be sent is said later. */
  @Test
  void whatIsReadIsNotLostIfThereIsNoMemoryToGrantMore() throws Exception {
    Connection connection = connect();
    failAll("sendTag");
    Itself.pass(connection.client, connection.server, UcxInput.WINDOW_BYTES / 2);
    failing.restore("sendTag");
    Itself.write(connection.client, UcxInput.WINDOW_BYTES); // more than was granted at first
    connection.end();
  }

  /** The peer would take a second switch for the program's bytes. */
  @Test
  void aSwitchForWhichMemoryIsShortIsSaidOnce() throws Exception {
    Connection connection = itself.new Connection(null, new FakeOwner());
    connection.agree();
    until(() -> hasSent(connection.client)); // its first word, before which nothing else is sent
    failAll("sendStream");
    assertThatThrownBy(() -> connection.client.switchOut(0)).isInstanceOf(Shortage.class);
    failing.restore("sendStream");
    connection.client.switchOut(0); // as the channel does, which has not switched
    connection.server.switchOut(0);
    until(() -> switched(connection.server) && switched(connection.client));
    connection.exchange();
    connection.end();
  }

  private static boolean hasSent(UcxStream stream) {
    stream.engine().lookIn();
    return !stream.sending();
  }

  private static boolean switched(UcxStream stream) {
    stream.engine().lookIn();
    return stream.peerSwitchAt() == 0;
  }
}
