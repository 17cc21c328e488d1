// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What Flight Recorder writes in processes with the agent, and processes that have none. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class FlightRecorderTest {
  private static final String DECIDED = "io.talaria.ConnectionDecided";
  private static final String CLOSED = "io.talaria.ConnectionClosed";

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Pair> pairs() {
    return Stream.of(Pair.BOTH, Pair.withOldJava().get(0));
  }

  private Path record(ChildSpec side, String name) {
    Path file = lab.scratch().resolve(name + ".jfr");
    side.option("-XX:StartFlightRecording:filename=" + file + ",settings=profile");
    return file;
  }

  private static List<RecordedEvent> events(Path file, String name, String role) throws Exception {
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().equals(name))
        .filter(event -> event.getString("role").equals(role))
        .sorted(Comparator.comparing(RecordedEvent::getStartTime)) // a file is in no order
        .toList();
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void aRecordingTellsTheLifeOfAConnection(Pair pair) throws Exception {
    pair.assume();
    Exchange exchange = new Exchange(lab, pair);
    Path server = record(exchange.serverSpec(), "server");
    Path client = record(exchange.clientSpec(), "client");
    exchange.run().expectTransport().end();

    assertThat(events(server, DECIDED, "listener"))
        .extracting(event -> event.getString("reason"))
        .containsExactly("announced");
    assertLife(server, "accepted");
    assertLife(client, "client");
    RecordedEvent accepted = events(server, CLOSED, "accepted").get(0);
    RecordedEvent connected = events(client, CLOSED, "client").get(0);
    assertThat(accepted.getString("remoteAddress")).isEqualTo(connected.getString("localAddress"));
    assertThat(accepted.getString("localAddress")).isEqualTo(connected.getString("remoteAddress"));
    for (String transport : List.of("accelerated", "tcp")) {
      assertThat(accepted.getLong(transport + "In"))
          .isEqualTo(connected.getLong(transport + "Out"));
      assertThat(accepted.getLong(transport + "Out"))
          .isEqualTo(connected.getLong(transport + "In"));
    }
  }

  private static void assertLife(Path file, String role) throws Exception {
    List<RecordedEvent> decided = events(file, DECIDED, role);
    RecordedEvent last = decided.get(decided.size() - 1);
    assertThat(last.getString("transport")).isEqualTo("shm");
    assertThat(last.getString("reason")).isEqualTo("same-host");
    assertThat(last.getString("detail")).startsWith("ring ");
    List<RecordedEvent> closed = events(file, CLOSED, role);
    assertThat(closed).hasSize(1);
    assertThat(closed.get(0).getLong("connectionId")).isEqualTo(last.getLong("connectionId"));
    assertThat(closed.get(0).getString("transport")).isEqualTo("shm");
    assertThat(closed.get(0).getLong("acceleratedOut")).isPositive();
    assertThat(closed.get(0).getLong("writes")).isPositive();
    assertThat(closed.get(0).getDuration("age")).isPositive();
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void aRunTimeImageWithoutFlightRecorderAndManagementIsAccelerated(Pair pair) throws Exception {
    pair.assume();
    Exchange exchange = new Exchange(lab, pair);
    for (ChildSpec side : List.of(exchange.serverSpec(), exchange.clientSpec())) {
      side.option("--limit-modules=java.base,java.instrument,jdk.net");
    }
    exchange.run().expectTransport().end();
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void aJvmWhoseFlightRecorderIsSwitchedOffIsAccelerated(Pair pair) throws Exception {
    pair.assume();
    Exchange exchange = new Exchange(lab, pair);
    for (ChildSpec side : List.of(exchange.serverSpec(), exchange.clientSpec())) {
      side.option("-XX:-FlightRecorder");
    }
    exchange.run().expectTransport().end();
  }
}
