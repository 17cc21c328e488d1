// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What Flight Recorder records of connections. */
@Timeout(120)
class FlightRecorderEventsTest {
  private static final Set<String> OF_ALL_EVENTS =
      Set.of("startTime", "duration", "eventThread", "stackTrace");
  private static final long MAX_MS = 120_000;

  @TempDir Path dir;

  private final ProcessCounters counters = ProcessCounters.onHeap("a test");

  /** Something that is recorded. */
  private interface Work {
    void run() throws Exception;
  }

  private List<RecordedEvent> recorded(Recording recording, Work work) throws Exception {
    Path file = dir.resolve("talaria.jfr");
    try (recording) {
      recording.start();
      work.run();
      recording.stop();
      recording.dump(file);
    }
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("io.talaria."))
        .toList();
  }

  private static Map<String, Object> fields(RecordedEvent event) {
    Map<String, Object> fields = new TreeMap<>();
    for (ValueDescriptor field : event.getFields()) {
      if (!OF_ALL_EVENTS.contains(field.getName())) {
        fields.put(field.getName(), event.getValue(field.getName()));
      }
    }
    return fields;
  }

  private ConnectionCounters accepted() {
    return counters.connection(
        Role.ACCEPTED,
        new InetSocketAddress("127.0.0.1", 9092),
        new InetSocketAddress("127.0.0.1", 40000));
  }

  private static void use(ConnectionCounters connection) {
    connection.tcpIn(3);
    connection.tcpOut(4);
    connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 32 KiB/32 KiB");
    connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 64 KiB/32 KiB");
    connection.acceleratedIn(5);
    connection.acceleratedIn(6);
    connection.acceleratedOut(12);
    connection.stalled();
    connection.wakeupSent();
    connection.wakeupSent();
    connection.wakeupReceived();
    connection.slept();
  }

  @Test
  void aDecisionIsRecordedWithEachOfItsFields() throws Exception {
    ConnectionCounters connection = accepted();
    List<RecordedEvent> events = recorded(new Recording(), () -> use(connection));

    assertThat(events).as("a new detail alone is no decision").hasSize(1);
    RecordedEvent decided = events.get(0);
    assertThat(decided.getEventType().getName()).isEqualTo("io.talaria.ConnectionDecided");
    assertThat(decided.getEventType().getLabel()).isEqualTo("Connection Decided");
    assertThat(decided.getEventType().getCategoryNames()).containsExactly("Talaria");
    assertThat(decided.getStackTrace()).isNull();
    assertThat(decided.getThread().getJavaName()).isEqualTo(Thread.currentThread().getName());
    assertThat(fields(decided))
        .isEqualTo(
            Map.of(
                "connectionId", connection.info().id(),
                "role", "accepted",
                "transport", "shm",
                "reason", "same-host",
                "detail", "ring 32 KiB/32 KiB",
                "localAddress", "/127.0.0.1:9092",
                "remoteAddress", "/127.0.0.1:40000"));
  }

  @Test
  void anEndIsRecordedWithEachOfItsFields() throws Exception {
    ConnectionCounters connection = accepted();
    use(connection);
    List<RecordedEvent> events =
        recorded(
            new Recording(),
            () -> {
              connection.close();
              connection.close();
            });

    assertThat(events).as("closing again changes nothing").hasSize(1);
    RecordedEvent closed = events.get(0);
    assertThat(closed.getEventType().getName()).isEqualTo("io.talaria.ConnectionClosed");
    assertThat(closed.getEventType().getLabel()).isEqualTo("Connection Closed");
    assertThat(closed.getEventType().getCategoryNames()).containsExactly("Talaria");
    assertThat(closed.getStackTrace()).isNull();
    assertThat(closed.getDuration("age").toMillis()).isBetween(0L, MAX_MS);
    Map<String, Object> expected = new TreeMap<>();
    expected.put("connectionId", connection.info().id());
    expected.put("role", "accepted");
    expected.put("transport", "shm");
    expected.put("reason", "same-host");
    expected.put("detail", "ring 64 KiB/32 KiB");
    expected.put("localAddress", "/127.0.0.1:9092");
    expected.put("remoteAddress", "/127.0.0.1:40000");
    expected.put("age", closed.getLong("age"));
    expected.put("acceleratedIn", 11L);
    expected.put("acceleratedOut", 12L);
    expected.put("tcpIn", 3L);
    expected.put("tcpOut", 4L);
    expected.put("reads", 3L);
    expected.put("writes", 2L);
    expected.put("stalls", 1L);
    expected.put("wakeupsSent", 2L);
    expected.put("wakeupsReceived", 1L);
    expected.put("sleeps", 1L);
    assertThat(fields(closed)).isEqualTo(expected);
  }

  @Test
  void aListenerHasNoRemoteAddressAndAnEarlyEndItsReason() throws Exception {
    List<RecordedEvent> events =
        recorded(
            new Recording(),
            () -> {
              ConnectionCounters listener =
                  counters.connection(Role.LISTENER, new InetSocketAddress("::1", 80), null);
              listener.transport(NioTransport.TCP, Reason.NO_RUNTIME_DIR, "");
              accepted().close();
              listener.close();
            });

    assertThat(events).hasSize(3);
    assertThat(fields(events.get(0)))
        .containsEntry("role", "listener")
        .containsEntry("transport", "tcp")
        .containsEntry("reason", "no-runtime-dir")
        .containsEntry("detail", "")
        .containsEntry("localAddress", "/[0:0:0:0:0:0:0:1]:80")
        .containsEntry("remoteAddress", "");
    assertThat(events.get(1).getString("reason")).isEqualTo("closed-early");
    assertThat(events.get(2).getString("role")).isEqualTo("listener");
  }

  @Test
  void eachEventCanBeSwitchedOffByItsName() throws Exception {
    Recording recording = new Recording();
    recording.disable("io.talaria.ConnectionDecided");
    List<RecordedEvent> events =
        recorded(
            recording,
            () -> {
              ConnectionCounters connection = accepted();
              use(connection);
              connection.close();
            });
    assertThat(events)
        .extracting(event -> event.getEventType().getName())
        .containsExactly("io.talaria.ConnectionClosed");
  }
}
