// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.counters.ProcessCounters;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a program sees of its own connections. */
@Timeout(60)
class ConnectionsTest {
  @Test
  void theSnapshotHoldsOpenConnectionsOldestFirst() {
    ProcessCounters counters = ProcessCounters.onHeap("a test");
    counters.makeCurrent();
    InetSocketAddress local = new InetSocketAddress("127.0.0.1", 1);
    ConnectionCounters first = counters.connection(Role.LISTENER, local, null);
    ConnectionCounters second = counters.connection(Role.ACCEPTED, local, local);
    ConnectionCounters third = counters.connection(Role.CLIENT, null, null);
    second.tcpIn(5);
    second.acceleratedIn(7);
    first.close();

    assertThat(Connections.snapshot()).hasSize(2);
    ConnectionInfo info = Connections.snapshot().get(0);
    assertThat(info.role()).isEqualTo(Role.ACCEPTED);
    assertThat(info.transport()).isEqualTo(NioTransport.TCP);
    assertThat(info.reason()).isEqualTo(Reason.PENDING);
    assertThat(info.inBytes()).isEqualTo(12);
    assertThat(info.reads()).isEqualTo(2);
    assertThat(Connections.snapshot().get(1).role()).isEqualTo(Role.CLIENT);
    third.close();
  }
}
