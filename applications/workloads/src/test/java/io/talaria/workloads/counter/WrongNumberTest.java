// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.compare.Task;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Json;
import io.talaria.workloads.TalariaCommand;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Both sides notice what is out of order: each talks to one that miscounts. */
@Timeout(240)
class WrongNumberTest {
  private static final int LIMIT_MS = 120_000;

  @Test
  void theServerTellsTheFirstWrongNumber() throws Exception {
    HostPort any = new HostPort("127.0.0.1", 0);
    try (CounterServer server =
            CounterServer.open(new Task(true, any, Json.tree(new CounterJob(0))));
        Socket socket = new Socket(any.host(), server.port())) {
      socket.setSoTimeout(LIMIT_MS);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      for (long number : new long[] {Numbers.MAGIC, 0, 5, 1, 2, 4, 3, 5}) {
        out.writeLong(number);
      }
      DataInputStream in = new DataInputStream(socket.getInputStream());
      for (long due : new long[] {0, 1, 2, 3, 4, 5, -3}) {
        assertThat(in.readLong()).isEqualTo(due);
      }
    }
  }

  @Test
  void theClientTellsTheFirstWrongNumber() throws Exception {
    client(
        new long[] {0, 1, 2, 2, 4},
        "talaria: the number 2 came where 3 was due",
        "--messages",
        "4");
  }

  @Test
  void theClientTellsWhatTheServerNoticed() throws Exception {
    client(
        new long[] {0, 1, 2, -2},
        "talaria: the server got a wrong number where 2 was due",
        "-m",
        "2");
  }

  @Test
  void theClientTellsSomethingElseFromACounter() throws Exception {
    client(new long[] {0x48545450}, " is no counter: it answered ");
  }

  /** The connection is made by the kernel; nobody reads from it. */
  @Test
  void theClientDoesNotWaitForASilentServer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + silent.getLocalPort();
      TalariaCommand.run("example", "counter", "--transport=tcp", "--remote", address)
          .failed(1, "talaria: " + address + " did not answer within 10 s");
    }
  }

  /** Runs the client against a server that answers so. */
  private static void client(long[] answers, String message, String... words) throws Exception {
    AtomicReference<IOException> failure = new AtomicReference<>();
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread server =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    try (Socket socket = listener.accept()) {
                      answer(socket, answers);
                    } catch (IOException e) {
                      failure.set(e);
                    }
                  });
      String[] all = {
        "example", "counter", "--transport=tcp", "--remote", "127.0.0.1:" + listener.getLocalPort()
      };
      try (TalariaCommand client =
          TalariaCommand.start(
              Stream.concat(Stream.of(all), Stream.of(words)).toArray(String[]::new))) {
        client.ended().failed(1, message);
      }
      server.join(LIMIT_MS);
      assertThat(failure.get()).isNull();
    }
  }

  private static void answer(Socket socket, long[] answers) throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    assertThat(in.readLong()).isEqualTo(Numbers.MAGIC);
    assertThat(in.readLong()).isZero();
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    for (long answer : answers) {
      out.writeLong(answer);
    }
    try {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // The client has ended with answers unread, which resets the connection.
    }
  }
}
