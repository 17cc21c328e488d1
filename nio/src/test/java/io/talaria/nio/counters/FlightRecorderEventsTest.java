// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What Flight Recorder records of connections. */
@Timeout(120)
class FlightRecorderEventsTest {
  @TempDir Path dir;

  @Test
  void decisionsAndEndsAreRecorded() throws Exception {
    ProcessCounters counters = ProcessCounters.onHeap("a test");
    Path file = dir.resolve("talaria.jfr");
    try (Recording recording = new Recording()) {
      recording.start();
      ConnectionCounters connection =
          counters.connection(
              Role.ACCEPTED,
              new InetSocketAddress("127.0.0.1", 9092),
              new InetSocketAddress("127.0.0.1", 40000));
      connection.mode(Mode.SHM, Reason.SAME_HOST, "ring 32 KiB/32 KiB");
      connection.mode(Mode.SHM, Reason.SAME_HOST, "ring 64 KiB/32 KiB");
      connection.fabricOut(12);
      connection.close();
      recording.stop();
      recording.dump(file);
    }

    List<RecordedEvent> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().startsWith("io.talaria."))
            .toList();
    assertThat(events).hasSize(2);
    RecordedEvent decided = events.get(0);
    assertThat(decided.getEventType().getName()).isEqualTo("io.talaria.ConnectionDecided");
    assertThat(decided.getEventType().getCategoryNames()).containsExactly("Talaria");
    assertThat(decided.getString("mode")).isEqualTo("shm");
    assertThat(decided.getString("reason")).isEqualTo("same-host");
    assertThat(decided.getString("role")).isEqualTo("accepted");
    assertThat(decided.getString("remoteAddress")).isEqualTo("/127.0.0.1:40000");
    RecordedEvent closed = events.get(1);
    assertThat(closed.getEventType().getName()).isEqualTo("io.talaria.ConnectionClosed");
    assertThat(closed.getString("transport")).isEqualTo("ring 64 KiB/32 KiB");
    assertThat(closed.getLong("fabricOut")).isEqualTo(12);
  }
}
