// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Routes and neighbours as /proc/net has them: what is not plain is not taken for a neighbour. */
@Timeout(60)
class ProcNetTest {
  private static final String ROUTES =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT   \n";
  private static final String NEIGHBOURS =
      "IP address       HW type     Flags       HW address            Mask     Device\n";

  private static Inet4Address ip(String text) throws IOException {
    return (Inet4Address) InetAddress.getByName(text);
  }

  /** As the kernel prints an address. */
  private static String hex(String address) throws IOException {
    return String.format("%08X", ProcNet.network(ProcNet.number(ip(address))));
  }

  private static String route(
      String device, String to, String gateway, int flags, int metric, String mask)
      throws IOException {
    return String.format(
        "%s\t%s\t%s\t%04X\t0\t0\t%d\t%s\t0\t0\t0   \n",
        device, hex(to), hex(gateway), flags, metric, hex(mask));
  }

  private static String direct(String device, String to, String mask) throws IOException {
    return route(device, to, "0.0.0.0", 1, 0, mask);
  }

  @Test
  void theLongestPrefixTellsTheInterface() throws Exception {
    String routes =
        ROUTES
            + route("eth0", "0.0.0.0", "10.1.0.1", 3, 0, "0.0.0.0")
            + direct("eth0", "10.1.0.0", "255.255.0.0")
            + direct("eth1", "10.1.2.0", "255.255.255.0");
    assertThat(ProcNet.device(routes, ip("10.1.7.1"))).isEqualTo("eth0");
    assertThat(ProcNet.device(routes, ip("10.1.2.1"))).isEqualTo("eth1");
  }

  @Test
  void whatIsBehindAGatewayHasNoInterface() throws Exception {
    String routes =
        ROUTES
            + route("eth0", "0.0.0.0", "10.1.0.1", 3, 0, "0.0.0.0")
            + direct("eth0", "10.1.0.0", "255.255.0.0")
            + route("eth0", "10.1.5.0", "10.1.0.9", 3, 0, "255.255.255.0");
    assertThat(ProcNet.device(routes, ip("192.0.2.1"))).isNull();
    assertThat(ProcNet.device(routes, ip("10.1.5.1"))).isNull();
    assertThat(ProcNet.device(ROUTES, ip("10.1.5.1"))).isNull();
  }

  @Test
  void routesThatAreDownOrRefuseLeadNowhere() throws Exception {
    String net = "10.1.0.0";
    String mask = "255.255.0.0";
    assertThat(ProcNet.device(ROUTES + route("eth0", net, "0.0.0.0", 0, 0, mask), ip("10.1.0.1")))
        .isNull();
    assertThat(ProcNet.device(ROUTES + route("*", net, "0.0.0.0", 0x201, 0, mask), ip("10.1.0.1")))
        .isNull();
  }

  @Test
  void theLeastMetricCountsAndTwoThatAreEqualDoNot() throws Exception {
    String net = "10.1.0.0";
    String mask = "255.255.0.0";
    String dear = route("eth0", net, "0.0.0.0", 1, 100, mask);
    String cheap = route("eth1", net, "0.0.0.0", 1, 50, mask);
    String equal = route("eth2", net, "0.0.0.0", 1, 50, mask);
    assertThat(ProcNet.device(ROUTES + dear + cheap, ip("10.1.0.1"))).isEqualTo("eth1");
    assertThat(ProcNet.device(ROUTES + cheap + dear, ip("10.1.0.1"))).isEqualTo("eth1");
    assertThat(ProcNet.device(ROUTES + cheap + equal + dear, ip("10.1.0.1"))).isNull();
  }

  @Test
  void aTableThatIsNoTableIsAnError() {
    assertThatThrownBy(
            () -> ProcNet.device(ROUTES + "eth0 x y 0001 0 0 0 z 0 0 0\n", ip("10.1.0.1")))
        .isInstanceOf(IOException.class);
  }

  private static String neighbour(String address, int type, int flags, String hardware, String at) {
    return String.format(
        "%-16s 0x%-10x0x%-10x%-17s     *        %s\n", address, type, flags, hardware, at);
  }

  @Test
  void aNeighbourIsKnownByItsHardwareAddress() throws Exception {
    String neighbours =
        NEIGHBOURS
            + neighbour("10.1.0.2", 1, 2, "02:42:0a:01:00:02", "eth0")
            + neighbour("10.1.0.3", 1, 6, "02:42:0A:01:00:03", "eth0");
    assertThat(ProcNet.neighbour(neighbours, ip("10.1.0.2"), "eth0")).isEqualTo(0x02420a010002L);
    assertThat(ProcNet.neighbour(neighbours, ip("10.1.0.3"), "eth0")).isEqualTo(0x02420a010003L);
  }

  @Test
  void oneThatIsUncertainIsNoNeighbour() throws Exception {
    String hardware = "02:42:0a:01:00:02";
    for (String line :
        new String[] {
          "",
          neighbour("10.1.0.20", 1, 2, hardware, "eth0"),
          neighbour("10.1.0.2", 1, 0, "00:00:00:00:00:00", "eth0"), // not found
          neighbour("10.1.0.2", 1, 2, hardware, "eth1"),
          neighbour("10.1.0.2", 32, 2, hardware, "eth0"), // InfiniBand
          neighbour("10.1.0.2", 1, 0xc, "*", "eth0"), // answered for by this namespace
          neighbour("10.1.0.2", 1, 2, hardware, "eth0")
              + neighbour("10.1.0.2", 1, 2, hardware, "eth1")
        }) {
      assertThat(ProcNet.neighbour(NEIGHBOURS + line, ip("10.1.0.2"), "eth0"))
          .as(line)
          .isEqualTo(ProcNet.NO_HARDWARE_ADDRESS);
    }
  }

  @Test
  void tablesBesideTheUsualTwoAreSeen() {
    String usual = "Basic info: size of leaf: 48 bytes.\nMain:\n\tLeaves: 7\nLocal:\n\tLeaves: 7\n";
    assertThat(ProcNet.hasOneTable(usual)).isTrue();
    assertThat(ProcNet.hasOneTable(usual + "Id 100:\n\tLeaves: 1\n")).isFalse();
  }

  @Test
  void thisMachinesTablesCanBeRead() throws Exception {
    assertThat(ProcNet.device(ip("127.0.0.1"))).isNotEqualTo("");
    assertThat(ProcNet.neighbour(ip("192.0.2.77"), "lo")).isEqualTo(ProcNet.NO_HARDWARE_ADDRESS);
    ProcNet.hasOneTable();
  }

  @Test
  void onlySocketsOfThisNamespaceAreAmongItsOwn() throws Exception {
    String table =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
            + "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  "
            + "1000        0 4711 1 0000000000000000 100 0 0 10 0\n";
    assertThat(ProcNet.hasSocket("4711", "", table)).isTrue();
    assertThat(ProcNet.hasSocket("471", "", table)).isFalse();
    assertThat(ProcNet.hasSocket("0", "", table)).as("other columns").isFalse();
    assertThat(ProcNet.hasSocket(-1)).isFalse();
    long before = ownSockets();
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress("127.0.0.1", 0));
      assertThat(ownSockets()).isEqualTo(before + 1);
    }
  }

  private static long ownSockets() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors
          .filter(each -> ProcNet.hasSocket(Integer.parseInt(each.getFileName().toString())))
          .count();
    }
  }
}
