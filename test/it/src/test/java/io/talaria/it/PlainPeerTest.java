// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Transports;
import io.talaria.it.kit.Pattern;
import io.talaria.it.programs.Talk;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a program with the agent puts on the wire to a peer that has never heard of it, here a
 * {@code java.net} socket of the test itself: exactly the program's bytes, and not one before,
 * between or after them.
 */
class PlainPeerTest {
  private static final int MESSAGE_BYTES = 100;
  private static final int ROUNDS = 20;

  @RegisterExtension final Lab lab = new Lab();

  static List<Flavour> flavours() {
    return List.of(Flavour.PLAIN, Flavour.TALARIA, Flavour.TALARIA_17);
  }

  @ParameterizedTest(name = "server {0}")
  @MethodSource("flavours")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void serverSendsNoForeignByte(Flavour flavour) throws Exception {
    Child server =
        lab.child(flavour, Talk.class)
            .arg("role", "server")
            .arg("first", "me")
            .arg("rounds", ROUNDS)
            .arg("bytes", MESSAGE_BYTES)
            .start();
    try (Socket client = new Socket("127.0.0.1", server.await("listening").port())) {
      client.setSoTimeout(20_000);
      converse(server, client, 2, 1, Reason.NO_OFFER);
    }
    lab.stop(server);
  }

  @ParameterizedTest(name = "client {0}")
  @MethodSource("flavours")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void clientSendsNoForeignByte(Flavour flavour) throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      listener.setSoTimeout(20_000);
      Child client =
          lab.child(flavour, Talk.class)
              .arg("port", listener.getLocalPort())
              .arg("first", "me")
              .arg("rounds", ROUNDS)
              .arg("bytes", MESSAGE_BYTES)
              .start();
      try (Socket server = listener.accept()) {
        server.setSoTimeout(20_000);
        converse(client, server, 1, 2, Reason.PEER_NOT_ACCELERATED);
      }
      lab.stop(client);
    }
  }

  private static void converse(Child child, Socket own, long childSeed, long ownSeed, Reason reason)
      throws Exception {
    Pattern heard = new Pattern(childSeed, Long.MAX_VALUE);
    Pattern said = new Pattern(ownSeed, Long.MAX_VALUE);
    byte[] message = new byte[MESSAGE_BYTES];
    InputStream in = own.getInputStream();
    for (int round = 0; round < 2 * ROUNDS; round++) {
      if (round == ROUNDS) {
        settle(child, own, reason);
      }
      assertThat(in.readNBytes(message, 0, message.length)).isEqualTo(message.length);
      heard.check(ByteBuffer.wrap(message), (long) round * MESSAGE_BYTES);
      said.fill(ByteBuffer.wrap(message), (long) round * MESSAGE_BYTES);
      own.getOutputStream().write(message);
    }
    child.await("talked");
    child.send("end");
    assertThat(in.read()).as("a byte after the program's last").isEqualTo(-1);
    own.shutdownOutput();
    child.await("ended");
  }

  /** Between two parts of the conversation, waits until the transport is settled, in silence. */
  private static void settle(Child child, Socket own, Reason reason)
      throws IOException, InterruptedException {
    child.await("talked");
    if (child.flavour().accelerated()) {
      Transports.await(child, NioTransport.TCP, reason);
    }
    assertThat(own.getInputStream().available()).as("bytes that nobody sent").isZero();
    child.send("again");
  }
}
