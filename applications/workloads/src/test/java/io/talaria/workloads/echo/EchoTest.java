// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.TalariaCommand;
import java.net.Socket;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The example echo from end to end. */
@Timeout(240)
class EchoTest {
  private static final String TOO_LONG =
      "line 2 has more than 1,048,576 bytes, which is the most that can be sent";

  @ParameterizedTest
  @ValueSource(strings = {"", "--transport=tcp", "--grpc"})
  void linesComeBack(String options) throws Exception {
    try (TalariaCommand echo = TalariaCommand.start(words(options))) {
      echo.type("first\n");
      echo.awaitOutput("first\n");
      echo.type("äöü €\n\nwithout an end");
      TalariaCommand.Ended ended = echo.end().well();
      assertThat(ended.out()).isEqualTo("first\näöü €\n\nwithout an end\n");
      assertThat(ended.err())
          .contains(options.contains("--grpc") ? "by gRPC, on " : "by Netty, on ")
          .contains(options.contains("--transport=tcp") ? "the JDK's sockets" : "Talaria (shm)");
    }
  }

  /** The user is told at once, not with the next line. */
  @ParameterizedTest
  @ValueSource(strings = {"", "--grpc"})
  void aClientLosesItsServer(String options) throws Exception {
    try (TalariaCommand server = TalariaCommand.server(words(options))) {
      String address = server.address();
      try (TalariaCommand client = TalariaCommand.start(words(options, "--remote", address))) {
        client.type("there?\n");
        client.awaitOutput("there?\n");
        server.kill();
        client.ended().failed(1, "talaria: lost the connection to " + address + ": ");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--grpc"})
  void bothSidesNameTheServerThatHasGone(String options) throws Exception {
    try (TalariaCommand echo = TalariaCommand.start(words(options))) {
      echo.type("there?\n");
      echo.awaitOutput("there?\n");
      echo.killServer();
      echo.endedWithItsJvms().failed(1, "talaria: the server ended (exit status 137)\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--grpc"})
  void nobodyListens(String options) throws Exception {
    try (Socket nobody = TalariaCommand.nobody()) {
      String address = "127.0.0.1:" + nobody.getLocalPort();
      TalariaCommand.run(words(options, "--transport=tcp", "--remote", address))
          .failed(1, "talaria: cannot connect to " + address + ": Connection refused", "--listen");
    }
  }

  @Test
  void aLineThatIsTooLongIsToldAsSuch() throws Exception {
    try (TalariaCommand echo = TalariaCommand.start(words("--transport=tcp"))) {
      echo.type("short\n" + "x".repeat(EchoLink.MAX_BYTES + 1) + "\n");
      echo.ended().failed(1, TOO_LONG);
    }
  }

  /** As from a file that is no text. */
  @Test
  void aLineWithoutAnEndIsTooLong() {
    TalariaCommand.runWith(
            "short\n" + "x".repeat(22 * EchoLink.MAX_BYTES), words("--transport=tcp"))
        .failed(1, TOO_LONG);
  }

  private static String[] words(String options, String... more) {
    return Stream.of(
            Stream.of("example", "echo"),
            Arrays.stream(options.split(" ", -1)).filter(word -> !word.isEmpty()),
            Stream.of(more))
        .flatMap(words -> words)
        .toArray(String[]::new);
  }
}
