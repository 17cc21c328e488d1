// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.talaria.bench.harness.ChildGoneException;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What ends in a message instead of a hang. */
@Timeout(120)
class ControlTest {
  @Test
  void aServerThatIsNotThereIsNamedWithTheHint() throws Exception {
    try (Socket bound = new Socket()) { // so that nobody else listens at its port
      bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      InetSocketAddress nobody = (InetSocketAddress) bound.getLocalSocketAddress();
      assertThatExceptionOfType(HarnessException.class)
          .isThrownBy(() -> RemoteMeasurer.connect(nobody, "x", "run"))
          .withMessageStartingWith("no server at ")
          .withMessageEndingWith("start one there: the same command with --listen");
    }
  }

  @Test
  void aWrongTokenIsRefused() throws Exception {
    try (LocalBenchmarkServer hosts = new LocalBenchmarkServer()) {
      assertThatExceptionOfType(HarnessException.class)
          .isThrownBy(() -> RemoteMeasurer.connect(address(hosts), "wrong", "run"))
          .withMessageContaining("wrong token");
    }
  }

  @Test
  void aServerOfAnotherVersionIsRefused() throws Exception {
    String welcome = "{\"type\":\"welcome\",\"version\":99}\n";
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> connectToOneThatSays(welcome))
        .withMessageContaining("version 4 of the protocol, the server version 99: use the same");
  }

  @Test
  void aServerThatSpeaksSomethingElseIsRefused() throws Exception {
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> connectToOneThatSays("SSH-2.0-OpenSSH\n"))
        .withMessageContaining("does not speak the protocol of talaria's benchmarks");
  }

  private static void connectToOneThatSays(String text) throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform()
          .daemon()
          .start(
              () -> {
                try (Socket peer = socket.accept()) {
                  peer.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
                  peer.getInputStream().readAllBytes();
                } catch (IOException e) {
                  // The client has gone.
                }
              });
      RemoteMeasurer.connect((InetSocketAddress) socket.getLocalSocketAddress(), "x", "r").close();
    }
  }

  @Test
  void aClientOfAnotherVersionIsRefused() throws Exception {
    assertThat(
            answerTo(
                "{\"type\":\"hello\",\"program\":\"talaria-bench\",\"version\":99,"
                    + "\"token\":\"secret\"}\n"))
        .contains("the client speaks version 99 of the protocol, the server version 4");
  }

  @Test
  void aClientThatSpeaksSomethingElseIsRefused() throws Exception {
    assertThat(answerTo("GET / HTTP/1.1\n")).contains("does not speak the protocol");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "{'type':'start'} | there is no transport null",
        "{'type':'start','transport':'SEA'} | there is no transport SEA",
        "{'type':'order'} | an order without a JVM",
        "{'type':'start','transport':'TCP'};{'type':'order'} | an order of nothing",
        "{'type':'dance'} | 'dance' makes no sense here"
      })
  void anOrderThatMakesNoSenseIsRefused(String orders, String why) throws Exception {
    String hello =
        "{'type':'hello','program':'talaria-bench','version':4,'token':'%s','run':'r'};"
            .formatted(LocalBenchmarkServer.TOKEN);
    assertThat(answerTo((hello + orders + ";").replace('\'', '"').replace(';', '\n')))
        .contains("\"type\":\"failed\"")
        .contains(why);
  }

  /** What measuring JVMs suffer when a server ends is no reason to be told. */
  @Test
  void aServerThatEndsIsTheReason() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread server = Thread.ofPlatform().daemon().start(() -> welcomeAndLeave(socket));
      try (RemoteMeasurer measurer =
          RemoteMeasurer.connect((InetSocketAddress) socket.getLocalSocketAddress(), "x", "r")) {
        server.join();
        assertThatExceptionOfType(ChildGoneException.class)
            .isThrownBy(() -> measurer.start(SocketTransport.TCP))
            .withMessageMatching("the server \\S+ (has gone|is lost: .*)");
      }
    }
  }

  private static void welcomeAndLeave(ServerSocket socket) {
    try (Socket peer = socket.accept()) {
      String welcome = "{\"type\":\"welcome\",\"version\":4}\n";
      peer.getOutputStream().write(welcome.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String answerTo(String text) throws Exception {
    try (LocalBenchmarkServer hosts = new LocalBenchmarkServer();
        Socket socket = new Socket()) {
      socket.connect(address(hosts));
      socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aServerMeasuresForOneAtATime() throws Exception {
    try (LocalBenchmarkServer hosts = new LocalBenchmarkServer()) {
      RemoteMeasurer first =
          RemoteMeasurer.connect(address(hosts), LocalBenchmarkServer.TOKEN, "one");
      RemoteMeasurer second =
          RemoteMeasurer.connect(address(hosts), LocalBenchmarkServer.TOKEN, "one");
      assertThatExceptionOfType(HarnessException.class)
          .isThrownBy(
              () -> RemoteMeasurer.connect(address(hosts), LocalBenchmarkServer.TOKEN, "another"))
          .withMessageContaining("is measuring for someone else; try again later");
      first.close();
      second.close();
      RemoteMeasurer.connect(address(hosts), LocalBenchmarkServer.TOKEN, "another").close();
    }
  }

  private static InetSocketAddress address(LocalBenchmarkServer benchmarkServer) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), benchmarkServer.port());
  }
}
