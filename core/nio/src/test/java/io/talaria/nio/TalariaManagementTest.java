// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.counters.ProcessCounters;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.TreeMap;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a management console sees. */
@Timeout(60)
class TalariaManagementTest {
  @Test
  void theBeanShowsTheConnectionsOfTheCurrentCounters() throws Exception {
    ProcessCounters before = ProcessCounters.current();
    ProcessCounters counters = ProcessCounters.onHeap("a test");
    counters.makeCurrent();
    try {
      theBeanShows(counters);
    } finally {
      if (before != null) {
        before.makeCurrent(); // other tests look at them
      }
    }
  }

  private static void theBeanShows(ProcessCounters counters) throws Exception {
    ConnectionCounters connection =
        counters.connection(
            Role.CLIENT,
            new InetSocketAddress("127.0.0.1", 40000),
            new InetSocketAddress("127.0.0.1", 9092));
    connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 32 KiB/32 KiB");
    connection.rings(32 << 10, 64 << 10);
    connection.acceleratedIn(3);
    connection.acceleratedOut(17);
    connection.tcpIn(5);
    connection.tcpOut(7);
    connection.stalled();
    connection.wakeupSent();
    connection.wakeupReceived();
    connection.slept();
    counters.refused(Reason.SHM_FULL);

    assertThat(TalariaManagement.register()).isTrue();
    assertThat(TalariaManagement.register()).as("again").isTrue();

    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName(TalariaManagement.OBJECT_NAME);
    CompositeData[] connections = (CompositeData[]) server.getAttribute(name, "Connections");
    assertThat(connections).hasSize(1);
    ConnectionInfo info = connection.info();
    Map<String, Object> expected = new TreeMap<>();
    expected.put("id", info.id());
    expected.put("role", "client");
    expected.put("transport", "shm");
    expected.put("reason", "same-host");
    expected.put("detail", "ring 32 KiB/32 KiB");
    expected.put("localAddress", "/127.0.0.1:40000");
    expected.put("remoteAddress", "/127.0.0.1:9092");
    expected.put("openedAtMs", info.openedAtMs());
    expected.put("acceleratedInBytes", 3L);
    expected.put("acceleratedOutBytes", 17L);
    expected.put("tcpInBytes", 5L);
    expected.put("tcpOutBytes", 7L);
    expected.put("reads", 2L);
    expected.put("writes", 2L);
    expected.put("stalls", 1L);
    expected.put("wakeupsSent", 1L);
    expected.put("wakeupsReceived", 1L);
    expected.put("sleeps", 1L);
    expected.put("ringInBytes", 32 << 10);
    expected.put("ringOutBytes", 64 << 10);
    Map<String, Object> shown = new TreeMap<>();
    for (String item : connections[0].getCompositeType().keySet()) {
      shown.put(item, connections[0].get(item));
    }
    assertThat(shown).isEqualTo(expected);

    assertThat(numbers(server, name, "ConnectionsByTransport"))
        .isEqualTo(Map.of("shm", 1L, "tcp", 0L, "ucx", 0L));
    assertThat(numbers(server, name, "ConnectionsByReason")).isEqualTo(Map.of("same-host", 1L));
    assertThat(numbers(server, name, "Refused")).isEqualTo(Map.of("shm-full", 1L));
    assertThat(numbers(server, name, "Totals"))
        .containsEntry("connections", 1L)
        .containsEntry("opened", 1L)
        .containsEntry("closed", 0L)
        .containsEntry("acceleratedOutBytes", 17L)
        .containsEntry("tcpInBytes", 5L);
    assertThat(server.getAttribute(name, "CountersFile")).isEqualTo("");
    for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
      assertThat(attribute.isWritable()).as(attribute.getName()).isFalse();
    }
  }

  private static Map<String, Object> numbers(MBeanServer server, ObjectName name, String attribute)
      throws Exception {
    Map<String, Object> numbers = new TreeMap<>();
    for (Object row : ((TabularData) server.getAttribute(name, attribute)).values()) {
      CompositeData entry = (CompositeData) row;
      numbers.put((String) entry.get("key"), entry.get("value"));
    }
    return numbers;
  }
}
