// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static io.talaria.nio.transport.TransportStream.END;
import static io.talaria.nio.transport.TransportStream.READ;
import static io.talaria.nio.transport.TransportStream.RESET;
import static io.talaria.nio.ucx.Itself.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.transport.TransportException;
import io.talaria.nio.ucx.Itself.Connection;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** UCX's way to a peer fails, and the control connection stands: nobody may wait for ever. */
@Timeout(60)
class FailedWayTest {
  private static final long PID = 4_000_008;

  /** So many bytes that the reader grants more. */
  private static final int COUNT = UcxInput.WINDOW_BYTES / 4;

  /** UCX's number for a peer that does not answer. */
  private static final int ENDPOINT_TIMEOUT = -80;

  /** A request that the real binding does not know. */
  private static final long REQUEST = Long.MAX_VALUE;

  private FailingBinding failing;
  private Itself itself;

  @BeforeEach
  void open() throws TransportException {
    assumeTrue(Variant.possible(), "no UCX here");
    failing = new FailingBinding(Bindings.open());
    itself = new Itself(new UcxTransport(false, () -> failing.binding), PID, false);
  }

  private void assertResetByAGrant(Connection connection) {
    Itself.write(connection.client, COUNT);
    ByteBuffer got = ByteBuffer.allocate(2 * COUNT);
    until(() -> connection.server.read(got) == RESET);
    assertThat(got.position()).isEqualTo(COUNT);
    failing.restore("sendTag");
    connection.end();
  }

  @Test
  void aGrantThatIsRefusedResets() throws Exception {
    Connection connection = itself.connect(null, new FakeOwner());
    failing.on("sendTag", call -> (long) ENDPOINT_TIMEOUT);
    assertResetByAGrant(connection);
  }

  @Test
  void aGrantThatFailsLaterResets() throws Exception {
    Connection connection = itself.connect(null, new FakeOwner());
    failing.on(
        "poll",
        call -> {
          boolean ours = (Long) call.argument(0) == REQUEST;
          return ours ? (Object) ENDPOINT_TIMEOUT : call.proceed();
        });
    failing.on("sendTag", call -> REQUEST);
    assertResetByAGrant(connection);
  }

  /** A process that exits without closing ends its output: what it has sent is read to an END. */
  @Test
  void aGrantToAPeerThatHasEndedDoesNotReset() throws Exception {
    Connection connection = itself.connect(null, new FakeOwner());
    failing.on("sendTag", call -> (long) ENDPOINT_TIMEOUT);
    Itself.pass(connection.client, connection.server, COUNT);
    itself.endSession();
    assertThat(connection.server.controlEnded(false)).isFalse();
    assertThat(Itself.readToTheEnd(connection.server, 0)).isEqualTo(END);
  }

  @Test
  void aSelectorIsToldOfASendThatFails() throws Exception {
    UcxReadySet readySet = new UcxReadySet(itself.transport);
    FakeOwner owner = new FakeOwner();
    Connection connection = itself.connect(readySet, owner);
    assertThat(connection.client.watch(READ)).isTrue();
    assertThat(readySet.arm()).isTrue();
    owner.forget();
    failing.on("sendStream", call -> (long) ENDPOINT_TIMEOUT);
    assertThat(connection.client.write(ByteBuffer.allocate(1))).isEqualTo(1);
    owner.assertWoken();
    failing.restore("sendStream");
    readySet.disarm();
    connection.client.moveTo(null);
    connection.end();
    readySet.close();
  }
}
