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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The ends of connections are counted, and on every way out none is left, nor one too few. */
@Timeout(60)
class EndsTest {
  private static final long PID = 4_000_005;

  private UcxTransport transport;
  private Itself itself;

  @BeforeEach
  void open() throws TransportException {
    assumeTrue(Variant.possible(), "no UCX here");
    transport = new UcxTransport(false);
    itself = new Itself(transport, PID, false);
  }

  private void assertLevels(int ends) {
    until(
        () -> {
          itself.deliver();
          return transport.ends() == ends;
        });
  }

  private Connection unagreed() throws TransportException {
    return itself.new Connection(null, new FakeOwner());
  }

  @Test
  void anOfferThatIsRefused() throws Exception {
    Upgrade offer = transport.offer(itself.toServer);
    assertThat(transport.ends()).isEqualTo(1);
    offer.cancel(Reason.REFUSED);
    assertLevels(0);
  }

  @Test
  void anAnswerThatFindsItsChannelClosed() throws Exception {
    Upgrade offer = transport.offer(itself.toServer);
    Upgrade answer = itself.answer(offer);
    assertThat(transport.ends()).isEqualTo(2);
    answer.cancel(Reason.CLOSED_EARLY);
    assertLevels(1);
    offer.cancel(Reason.CLOSED_EARLY);
    assertLevels(0);
  }

  @Test
  void anOfferWithoutAnAnswerWhenTheSessionEnds() throws Exception {
    Upgrade offer = transport.offer(itself.toServer);
    itself.endSession();
    offer.cancel(Reason.PEER_LOST);
    assertLevels(0);
  }

  @Test
  void anAnswerThatIsNone() throws Exception {
    Upgrade offer = transport.offer(itself.toServer);
    assertThatThrownBy(() -> offer.answered(ByteBuffer.allocate(20)))
        .isInstanceOf(TransportException.class);
    itself.endSession();
    assertLevels(0);
  }

  @Test
  void aStreamThatIsWithdrawn() throws Exception {
    Connection connection = unagreed();
    assertThat(connection.client.withdraw()).isTrue();
    connection.client.release();
    itself.deliver();
    connection.server.release();
    assertLevels(0);
  }

  @Test
  void aStreamThatEnds() throws Exception {
    Connection connection = itself.connect(null, new FakeOwner());
    Connection other = itself.connect(null, new FakeOwner());
    connection.end();
    assertLevels(2);
    other.exchange();
    other.end();
    assertLevels(0);
  }

  @Test
  void aSessionThatEndsBeforeTheRelease() throws Exception {
    Connection connection = itself.connect(null, new FakeOwner());
    itself.endSession();
    assertThat(transport.ends()).isEqualTo(2);
    connection.client.release();
    connection.server.release();
    assertLevels(0);
  }

  @Test
  void aSessionThatEndsAfterOneRelease() throws Exception {
    Connection connection = itself.connect(null, new FakeOwner());
    connection.client.release(); // of which the server does not hear any more
    itself.endSession();
    connection.server.release();
    assertLevels(0);
  }

  @Test
  void aSessionThatEndsBeforeTheStreamIsAgreed() throws Exception {
    Connection connection = unagreed();
    itself.endSession();
    connection.client.release();
    connection.server.release();
    assertLevels(0);
  }

  private static void refuse(UcxStream here, UcxStream there) {
    Engine engine = here.engine();
    engine.enter();
    engine.refuse(UcxWorkerAddress.unwrap(there.engine().address()));
    engine.exit();
  }

  /** Its endpoint has no other end, and nobody can know before the session ends. */
  @Test
  void aServerWhoseClientsEndpointIsRefused() throws Exception {
    Upgrade offer = transport.offer(itself.toServer);
    Upgrade answer = itself.answer(offer);
    UcxStream server = (UcxStream) answer.stream();
    UcxStream client = (UcxStream) offer.stream();
    server.owner(new FakeOwner(), null);
    refuse(client, server);
    offer.answered(answer.payload());
    assertThat(offer.worthless()).isEqualTo(Reason.LIMIT);
    assertThat(client.withdraw()).isTrue();
    client.release();
    itself.deliver();
    server.release();
    assertLevels(1);
    assertThat(server.over()).isTrue();
    itself.endSession();
    assertLevels(0);
  }

  @Test
  void aClientWhoseServersEndpointIsRefused() throws Exception {
    Upgrade offer = transport.offer(itself.toServer);
    Upgrade answer = itself.answer(offer);
    UcxStream server = (UcxStream) answer.stream();
    UcxStream client = (UcxStream) offer.stream();
    refuse(server, client);
    server.owner(new FakeOwner(), null);
    assertThat(server.withdrawn()).isTrue();
    offer.answered(answer.payload());
    client.owner(new FakeOwner(), null);
    server.release();
    itself.deliver();
    client.release();
    assertLevels(1);
    itself.endSession();
    assertLevels(0);
  }

  /** What was sent has arrived before its way is closed, though the peer has not said so. */
  @Test
  void aSessionBetweenHostsThatEndsWhileBytesAreUnderWay() throws Exception {
    transport = new UcxTransport(true);
    itself = new Itself(transport, PID, true);
    Connection connection = itself.connect(null, new FakeOwner());
    Itself.write(connection.client, 100_000);
    connection.client.finishOutput();
    until(() -> connection.client.flushed());
    connection.client.release();
    itself.endSession();
    assertLevels(1);
    assertThat(Itself.readToTheEnd(connection.server, 100_000)).isEqualTo(TransportStream.END);
    connection.server.release();
    assertLevels(0);
  }
}
