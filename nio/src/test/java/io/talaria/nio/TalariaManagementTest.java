// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.counters.ProcessCounters;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
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
    ProcessCounters counters = ProcessCounters.onHeap("a test");
    counters.makeCurrent();
    ConnectionCounters connection =
        counters.connection(
            Role.CLIENT,
            new InetSocketAddress("127.0.0.1", 40000),
            new InetSocketAddress("127.0.0.1", 9092));
    connection.mode(Mode.SHM, Reason.SAME_HOST, "ring 32 KiB/32 KiB");
    connection.fabricOut(17);
    counters.refused(Reason.SHM_FULL);

    assertThat(TalariaManagement.register()).isTrue();
    assertThat(TalariaManagement.register()).as("again").isTrue();

    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName(TalariaManagement.OBJECT_NAME);
    CompositeData[] connections = (CompositeData[]) server.getAttribute(name, "Connections");
    assertThat(connections).hasSize(1);
    assertThat(connections[0].get("mode")).isEqualTo("shm");
    assertThat(connections[0].get("reason")).isEqualTo("same-host");
    assertThat(connections[0].get("role")).isEqualTo("client");
    assertThat(connections[0].get("remoteAddress")).isEqualTo("/127.0.0.1:9092");
    assertThat(connections[0].get("fabricOutBytes")).isEqualTo(17L);
    assertThat(number(server, name, "ConnectionsByMode", "shm")).isEqualTo(1L);
    assertThat(number(server, name, "ConnectionsByMode", "tcp")).isEqualTo(0L);
    assertThat(number(server, name, "ConnectionsByReason", "same-host")).isEqualTo(1L);
    assertThat(number(server, name, "Refused", "shm-full")).isEqualTo(1L);
    assertThat(number(server, name, "Totals", "fabricOutBytes")).isEqualTo(17L);
    assertThat(server.getAttribute(name, "CountersFile")).isEqualTo("");
  }

  private static Object number(MBeanServer server, ObjectName name, String attribute, String key)
      throws Exception {
    TabularData map = (TabularData) server.getAttribute(name, attribute);
    return map.get(new Object[] {key}).get("value");
  }
}
