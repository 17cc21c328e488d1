// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.TalariaProvider;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.transport.TransportProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What happens if a transport is asked for that is not there; here its module is not. */
@Timeout(60)
class MissingTransportTest {
  private static final long DEADLINE_NS = 30_000_000_000L;

  @TempDir Path dir;

  @Test
  void aTransportWhoseClassesAreNotThereSaysSo() {
    TransportProvider transport = NamedTransport.load("ucx", false);
    assertThat(transport.name()).isEqualTo("ucx");
    assertThat(transport.kind()).isEqualTo(NioTransport.UCX);
    assertThat(transport.unavailable()).isEqualTo(Reason.NO_UCX);
    assertThat(transport.problem())
        .isEqualTo("The classes of the transport ucx are not on the class path.");
  }

  @Test
  void aloneItLeavesConnectionsOnTcpWithItsReason() throws Exception {
    ConnectionInfo connection = settled("ucx", NioTransport.TCP, Reason.NO_UCX);
    assertThat(connection.transport()).isEqualTo(NioTransport.TCP);
    assertThat(connection.reason()).isEqualTo(Reason.NO_UCX);
    assertThat(CountersReader.read(ProcessCounters.current().path()).ucxUnavailableReason())
        .isEqualTo("The classes of the transport ucx are not on the class path.");
  }

  @Test
  void theNextOneInTheListIsTakenInstead() throws Exception {
    ConnectionInfo connection = settled("ucx,shm", NioTransport.SHM, Reason.SAME_HOST);
    assertThat(connection.transport()).isEqualTo(NioTransport.SHM);
  }

  /** A client's connection that has become as expected, or after a long time something else. */
  private ConnectionInfo settled(String transports, NioTransport transport, Reason reason)
      throws Exception {
    SelectorProvider provider = provider(transports);
    try (ServerSocketChannel listener = provider.openServerSocketChannel()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (SocketChannel client = provider.openSocketChannel()) {
        client.connect(listener.getLocalAddress());
        try (SocketChannel server = listener.accept()) {
          long start = System.nanoTime();
          ByteBuffer one = ByteBuffer.allocate(1);
          ConnectionInfo info;
          do {
            client.write(one.clear());
            server.read(one.clear());
            server.write(one.clear());
            client.read(one.clear());
            info =
                Connections.snapshot().stream()
                    .filter(c -> c.local().equals(local(client)))
                    .findFirst()
                    .orElseThrow();
          } while ((info.transport() != transport || info.reason() != reason)
              && System.nanoTime() - start < DEADLINE_NS);
          return info;
        }
      }
    }
  }

  private static Object local(SocketChannel channel) {
    try {
      return channel.getLocalAddress();
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }

  private SelectorProvider provider(String transports) {
    Map<String, String> wanted =
        Map.of(
            "talaria.transports", transports,
            "talaria.dir", dir.resolve("run").toString(),
            "talaria.shm.dir", dir.resolve("shm").toString());
    Map<String, String> before = new TreeMap<>();
    wanted.forEach((name, value) -> before.put(name, set(name, value)));
    try {
      return new TalariaProvider();
    } finally {
      before.forEach(MissingTransportTest::set);
    }
  }

  private static String set(String name, String value) {
    String before = System.getProperty(name, "");
    if (value.isEmpty()) {
      System.clearProperty(name);
    } else {
      System.setProperty(name, value);
    }
    return before;
  }
}
