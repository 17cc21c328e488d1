// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What stands in a connection's way in one namespace is found among the sockets there. */
@Timeout(60)
class TcpSocketsTest {
  private static final String HEAD =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n";
  private static final int ESTABLISHED = 1;
  private static final int FIN_WAIT = 4;
  private static final int LISTEN = 10;
  private static final InetSocketAddress CLIENT = new InetSocketAddress("10.1.0.2", 40_000);
  private static final InetSocketAddress SERVER = new InetSocketAddress("10.1.0.3", 9092);
  private static final InetSocketAddress PROXY = new InetSocketAddress("127.0.0.1", 15_001);
  private static final InetSocketAddress NONE = new InetSocketAddress("0.0.0.0", 0);

  private static String four(InetSocketAddress end) {
    return String.format(
        "%08X:%04X",
        ProcNet.network(ProcNet.number((Inet4Address) end.getAddress())), end.getPort());
  }

  /** As a socket of IPv6 that speaks IPv4 is shown. */
  private static String six(InetSocketAddress end) {
    return String.format("0000000000000000%08X", ProcNet.network(0xffff)) + four(end);
  }

  private static String line(String local, String remote, int state) {
    return String.format(
        "   0: %s %s %02X 00000000:00000000 00:00000000 00000000     0        0 46 1 0\n",
        local, remote, state);
  }

  private static String line(InetSocketAddress local, InetSocketAddress remote, int state) {
    return line(four(local), four(remote), state);
  }

  private static TcpSockets sockets(String... lines) throws IOException {
    return TcpSockets.parse(HEAD + String.join("", lines), HEAD);
  }

  private static boolean client(String... lines) throws IOException {
    return sockets(lines).haveClientAlone(CLIENT, SERVER);
  }

  private static boolean server(String... lines) throws IOException {
    return sockets(lines).haveServerAlone(CLIENT, SERVER);
  }

  private final String clients = line(CLIENT, SERVER, ESTABLISHED);
  private final String servers = line(SERVER, CLIENT, ESTABLISHED);

  @Test
  void eachSideHasItsEnd() throws Exception {
    assertThat(client(clients)).isTrue();
    assertThat(server(servers)).isTrue();
    assertThat(client(servers)).isFalse();
    assertThat(server(clients)).isFalse();
    assertThat(client()).isFalse();
    assertThat(server()).isFalse();
  }

  @Test
  void anEndThatDoesNotStandDoesNotCount() throws Exception {
    assertThat(client(line(CLIENT, SERVER, FIN_WAIT))).isFalse();
    assertThat(server(line(SERVER, CLIENT, FIN_WAIT))).isFalse();
  }

  @Test
  void aProxyInTheClientsNamespaceIsFound() throws Exception {
    assertThat(client(clients, line(PROXY, CLIENT, ESTABLISHED))).isFalse();
    assertThat(client(clients, line(SERVER, CLIENT, ESTABLISHED))).isFalse();
  }

  @Test
  void aProxyInTheServersNamespaceIsFound() throws Exception {
    InetSocketAddress diverted = new InetSocketAddress("10.1.0.3", 15_006);
    assertThat(server(servers, line(diverted, CLIENT, ESTABLISHED))).isFalse();
    assertThat(server(servers, line(CLIENT, SERVER, ESTABLISHED))).isFalse();
  }

  @Test
  void otherConnectionsDoNoHarm() throws Exception {
    InetSocketAddress elsewhere = new InetSocketAddress("10.1.0.9", 40_000);
    String listener = line(new InetSocketAddress("0.0.0.0", 9092), NONE, LISTEN);
    assertThat(client(clients, line(CLIENT, elsewhere, ESTABLISHED), listener)).isTrue();
    assertThat(server(servers, line(SERVER, elsewhere, ESTABLISHED), listener)).isTrue();
  }

  @Test
  void socketsOfBothFamiliesAreFound() throws Exception {
    String own = line(six(CLIENT), six(SERVER), ESTABLISHED);
    String proxy = line(six(PROXY), six(CLIENT), ESTABLISHED);
    String other =
        line(
            "000080FE00000000FFFFFFFFFFFFFFFF:9C40",
            "000080FE00000000FFFFFFFFFFFFFFFE:2384",
            ESTABLISHED);
    assertThat(TcpSockets.parse(HEAD, HEAD + other + own).haveClientAlone(CLIENT, SERVER)).isTrue();
    assertThat(TcpSockets.parse(HEAD + clients, HEAD + proxy).haveClientAlone(CLIENT, SERVER))
        .isFalse();
    assertThat(TcpSockets.parse(HEAD + clients, HEAD + own).haveClientAlone(CLIENT, SERVER))
        .isFalse();
  }

  /** In one namespace each end is the other's proxy, so to speak. */
  @Test
  void thisMachinesSocketsCanBeRead() throws Exception {
    try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.INET)) {
      listener.bind(new InetSocketAddress("127.0.0.1", 0));
      InetSocketAddress to = (InetSocketAddress) listener.getLocalAddress();
      try (SocketChannel connected = SocketChannel.open(to);
          SocketChannel accepted = listener.accept()) {
        InetSocketAddress from = (InetSocketAddress) connected.getLocalAddress();
        assertThat(accepted.getRemoteAddress()).isEqualTo(from);
        assertThat(TcpSockets.read().haveClientAlone(from, to)).isFalse();
        assertThat(TcpSockets.read().haveServerAlone(from, to)).isFalse();
      }
    }
  }
}
