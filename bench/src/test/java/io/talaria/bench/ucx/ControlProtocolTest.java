// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.bench.ucx.Messages.Hello;
import io.talaria.cli.harness.Json;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whoever does not keep to the protocol is told so, and the connection ends on both sides. */
@Timeout(60)
class ControlProtocolTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** What the server answers to some bytes. */
  private static String answerTo(LocalServer server, byte[] bytes) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(server.address());
      socket.setSoTimeout((int) LIMIT.toMillis());
      socket.getOutputStream().write(bytes);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      int length = in.readInt();
      assertThat(in.readByte()).as("type").isEqualTo(FrameType.FAILED.code());
      String answer = Json.parse(new String(in.readNBytes(length), UTF_8)).get("message").asText();
      assertThat(in.read()).as("the end of the connection").isEqualTo(-1);
      return answer;
    }
  }

  private static byte[] frame(FrameType type, Object payload) {
    byte[] json = Json.line(payload).getBytes(UTF_8);
    return java.nio.ByteBuffer.allocate(5 + json.length)
        .putInt(json.length)
        .put(type.code())
        .put(json)
        .array();
  }

  @Test
  void garbageIsRefusedAndTheServerServesOn() throws IOException {
    try (LocalServer server = new LocalServer()) {
      for (String garbage :
          new String[] {
            "GET / HTTP/1.1\r\n\r\n", "\0\0\0\4\1{{{{", "\0\0\0\4\177null", "\377\377\377\377\1"
          }) {
        assertThat(answerTo(server, garbage.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1)))
            .as(garbage)
            .matches(
                "the client does not speak the benchmark's protocol"
                    + "|the client sent a HELLO that is no JSON");
      }
      assertThat(answerTo(server, frame(FrameType.HELLO, new Hello("nmap", 1, ""))))
          .isEqualTo("this is a server of talaria bench ucx");
    }
  }

  @Test
  void anotherVersionIsRefusedWithBothNumbers() throws IOException {
    try (LocalServer server = new LocalServer()) {
      Hello hello = new Hello(ControlLink.PROGRAM, ControlLink.VERSION + 1, LocalServer.TOKEN);
      assertThat(answerTo(server, frame(FrameType.HELLO, hello)))
          .isEqualTo(
              "the client speaks version 2 of the protocol, the server version 1: use the same"
                  + " release of Talaria on both sides");
    }
  }

  @Test
  void aWrongTokenIsRefused() throws IOException {
    try (LocalServer server = new LocalServer()) {
      assertThatThrownBy(() -> ControlLink.connect(server.address(), "guess"))
          .isInstanceOf(ControlException.class)
          .hasMessage(
              "the server gave up: wrong token: give the one that the server has printed, --token");
    }
  }

  @Test
  void aFrameOutOfTurnIsRefused() throws IOException {
    try (LocalServer server = new LocalServer()) {
      assertThat(answerTo(server, frame(FrameType.STOP, new Messages.Stop(3))))
          .isEqualTo("the client sent STOP where HELLO was due");
    }
  }

  @Test
  void aSetupWithTheWrongContentIsRefused() throws IOException {
    NeedsUcx.check();
    try (LocalServer server = new LocalServer();
        ControlLink link = ControlLink.connect(server.address(), LocalServer.TOKEN)) {
      link.send(
          FrameType.SETUP, new Messages.Setup(Operation.TAG, Kind.LATENCY, 0, "", false, null));
      assertThatThrownBy(() -> link.await(FrameType.READY, Messages.Ready.class, LIMIT))
          .hasMessage("the server gave up: a SETUP with the wrong content");
    }
  }

  @Test
  void credentialsThatAreNoneAreRefused() throws IOException {
    NeedsUcx.check();
    try (LocalServer server = new LocalServer();
        ControlLink link = ControlLink.connect(server.address(), LocalServer.TOKEN)) {
      Credentials credentials = Credentials.of(new byte[40], new byte[0]);
      link.send(
          FrameType.SETUP,
          new Messages.Setup(Operation.TAG, Kind.LATENCY, 8, "posix,self", true, credentials));
      assertThatThrownBy(() -> link.await(FrameType.READY, Messages.Ready.class, LIMIT))
          .hasMessageContaining("no worker address");
    }
  }

  @Test
  void aServerOfAnotherKindIsNamed() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread thread =
          new Thread(
              () -> {
                try (Socket socket = other.accept()) {
                  new DataOutputStream(socket.getOutputStream()).writeBytes("SSH-2.0-whatever\r\n");
                  assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
                } catch (IOException e) {
                  // The client has gone.
                }
              },
              "test-other-server");
      thread.start();
      InetSocketAddress address =
          new InetSocketAddress(other.getInetAddress(), other.getLocalPort());
      assertThatThrownBy(() -> ControlLink.connect(address, ""))
          .hasMessage("the server does not speak the benchmark's protocol");
      thread.join(LIMIT.toMillis());
    }
  }

  @Test
  void noServerIsToldWithTheCure() throws IOException {
    InetSocketAddress nobody;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      nobody = new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
    }
    assertThatThrownBy(() -> ControlLink.connect(nobody, ""))
        .hasMessageStartingWith("no server at ")
        .hasMessageEndingWith("start one there: talaria bench ucx --listen");
  }
}
