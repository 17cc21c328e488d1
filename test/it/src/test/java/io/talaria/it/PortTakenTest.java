// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Announced;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.EchoClient;
import io.talaria.it.programs.EchoServer;
import io.talaria.it.programs.StreamClient;
import io.talaria.it.programs.Survivor;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A port says nothing about who listens on it now: what was announced may be gone, or shared. */
class PortTakenTest {
  private static final int CONNECTIONS = 40;

  @RegisterExtension final Lab lab = new Lab();

  @ParameterizedTest(name = "the listener is killed: {0}")
  @ValueSource(booleans = {true, false})
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void plainProgramTakesThePort(boolean kill) throws Exception {
    Child first = lab.child(Flavour.TALARIA, Survivor.class).arg("role", "server").start();
    int port = first.await("listening").port();
    Announced.await(lab.talariaDir(), port);
    if (kill) {
      first.kill();
    } else {
      lab.stop(first);
    }
    Exchange exchange = new Exchange(lab, new Pair(Flavour.PLAIN, Flavour.TALARIA));
    exchange.serverSpec().arg("port", port);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.PEER_NOT_ACCELERATED);
    exchange.end();
  }

  static List<List<Flavour>> sharers() {
    return List.of(
        List.of(Flavour.PLAIN, Flavour.PLAIN),
        List.of(Flavour.TALARIA, Flavour.PLAIN),
        List.of(Flavour.PLAIN, Flavour.TALARIA),
        List.of(Flavour.TALARIA, Flavour.TALARIA));
  }

  /** The kernel gives each connection to one of the two listeners, as it likes. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("sharers")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void twoListenersShareThePort(List<Flavour> sharers) throws Exception {
    Child first = listener(sharers.get(0)).start();
    int port = first.await("listening").port();
    Child second = listener(sharers.get(1)).arg("port", port).start();
    second.await("listening");
    boolean agent = sharers.contains(Flavour.TALARIA);
    Child client =
        lab.child(agent ? Flavour.TALARIA : Flavour.PLAIN, StreamClient.class)
            .arg("port", port)
            .arg("connections", CONNECTIONS)
            .arg("parallel", 4)
            .arg("min", 1 << 20)
            .arg("max", 3 << 20)
            .start();
    client.await("finished");
    int ended = 0;
    long deadlineNs = System.nanoTime() + Child.PATIENCE.toNanos();
    // The client may have finished before the listeners have read everything.
    while (ended < CONNECTIONS && System.nanoTime() - deadlineNs < 0) {
      for (Child listener : List.of(first, second)) {
        for (Event event = listener.poll("ended"); event != null; event = listener.poll("ended")) {
          assertThat(event.text("in")).isEqualTo("complete");
          assertThat(event.text("out")).isEqualTo("complete");
          ended++;
        }
      }
    }
    assertThat(ended).isEqualTo(CONNECTIONS);
    lab.stop(client, first, second);
  }

  /** Each connection finds the right one of two announcements, sooner or later. */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void twoListenersOfOnePortAreTold() throws Exception {
    int connections = 16;
    Child first = lab.child(Flavour.TALARIA, EchoServer.class).arg("reusePort", "yes").start();
    int port = first.await("listening").port();
    Child second =
        lab.child(Flavour.TALARIA, EchoServer.class)
            .arg("reusePort", "yes")
            .arg("port", port)
            .start();
    second.await("listening");
    Announced.await(lab.talariaDir(), port);
    Child client =
        lab.child(Flavour.TALARIA, EchoClient.class)
            .arg("port", port)
            .arg("connections", connections)
            .start();
    client.await("connected");
    Transports.awaitAll(client, c -> c.transport() == NioTransport.SHM, connections, "accelerated");
    client.send("round");
    assertThat(client.await("echoed").number("spurious")).isZero();
    assertThat(Transports.of(first)).as("connections of the first").isNotEmpty();
    assertThat(Transports.of(second)).as("connections of the second").isNotEmpty();
    lab.stop(client, first, second);
  }

  private ChildSpec listener(Flavour flavour) {
    return lab.child(flavour, Survivor.class)
        .arg("role", "server")
        .arg("io", "selector")
        .arg("reusePort", "yes")
        .arg("min", 1 << 20)
        .arg("max", 3 << 20);
  }

  /** A second listener of the same port on another address is announced, but not meant. */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void samePortOfAnotherAddressIsPlain() throws Exception {
    Child other =
        lab.child(Flavour.TALARIA, Survivor.class)
            .arg("role", "server")
            .arg("bind", "127.0.0.2")
            .start();
    int port = other.await("listening").port();
    Announced.await(lab.talariaDir(), port);
    Exchange exchange = new Exchange(lab, new Pair(Flavour.PLAIN, Flavour.TALARIA));
    exchange.serverSpec().arg("port", port);
    exchange.run();
    Transports.await(
        exchange.client(), NioTransport.TCP, Reason.NOT_MATCHED, Reason.PEER_NOT_ACCELERATED);
    exchange.end();
    lab.stop(other);
  }
}
