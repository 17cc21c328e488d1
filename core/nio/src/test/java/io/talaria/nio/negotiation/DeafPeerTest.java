// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.Peer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A peer that reads nothing costs a bounded amount of memory, and then its session. */
@Timeout(60)
class DeafPeerTest {
  private static final int PORT = 7021;
  private static final int MESSAGES = 20_000;

  @TempDir Path temporary;

  private final FakeTransport transport = new FakeTransport();

  @Test
  void losesItsSession() throws Exception {
    Path directory = temporary.resolve("run");
    Node client = new Node(directory, transport);
    client.negotiator.execute(() -> {}); // makes the directory
    client.settle();
    try (RawSession.Listener listener = new RawSession.Listener(directory, PORT)) {
      client.negotiator.connected(new FakeChannel(FakeChannel.key(1, PORT)));
      RawSession deaf = welcomed(listener);
      Peer peer = transport.peers.get(0);

      for (int i = 0; i < MESSAGES; i++) {
        peer.send(ByteBuffer.allocate(1000));
      }
      client.settle();
      client.settle();

      assertThat(transport.gone).containsExactly(peer);
      assertThat(client.log)
          .anyMatch(line -> line.startsWith(Reason.BUSY.code()) && line.contains("does not read"));
      deaf.awaitEnd();

      client.negotiator.connected(new FakeChannel(FakeChannel.key(2, PORT)));
      welcomed(listener).expect(Wire.OFFER);
    }
    client.assertNoFailure();
  }

  private static RawSession welcomed(RawSession.Listener listener) throws Exception {
    RawSession session = listener.accept();
    session.expect(Wire.HELLO);
    session.write(RawSession.welcome(1));
    return session;
  }
}
