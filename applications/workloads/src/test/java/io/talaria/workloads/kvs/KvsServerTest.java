// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.kvs.KvsException.Reason;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients and the shell against two real servers. */
class KvsServerTest {
  private final EventLoopGroup loops = new NioEventLoopGroup(1);
  private final List<KvsServer> servers = new ArrayList<>();
  private KvsClient client;

  @BeforeEach
  void connect() throws Exception {
    List<HostPort> addresses = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      KvsServer server = new KvsServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      servers.add(server);
      addresses.add(new HostPort("127.0.0.1", server.port()));
    }
    client = KvsClient.connect(addresses, loops);
  }

  @AfterEach
  void close() {
    client.close();
    servers.forEach(KvsServer::close);
    loops.shutdownGracefully();
  }

  private static Row row(String key, String name, String value) {
    return new Row(key, Map.of(name, ByteString.copyFromUtf8(value)));
  }

  private static void assertFails(ThrowingCallable call, Reason reason, String message) {
    assertThatThrownBy(call)
        .asInstanceOf(InstanceOfAssertFactories.type(KvsException.class))
        .satisfies(
            e -> {
              assertThat(e.reason()).isEqualTo(reason);
              assertThat(e).hasMessageContaining(message);
            });
  }

  @Test
  void keepsMergesAndForgetsRecords() throws Exception {
    client.insert(row("k", "a", "1"));
    client.update(row("k", "b", "2"));
    client.update(row("k", "a", "3"));
    assertThat(client.get("k", List.of()).fields())
        .containsExactly(
            Map.entry("a", ByteString.copyFromUtf8("3")),
            Map.entry("b", ByteString.copyFromUtf8("2")));
    assertThat(client.get("k", List.of("b", "none")).fields()).containsOnlyKeys("b");
    client.delete("k");
    assertFails(() -> client.get("k", List.of()), Reason.NOT_FOUND, "there is no record 'k'");
  }

  @Test
  void refusesWhatCannotBe() throws Exception {
    client.insert(row("k", "a", "1"));
    assertFails(
        () -> client.insert(row("k", "a", "2")), Reason.EXISTS, "there is a record 'k' already");
    assertFails(() -> client.update(row("x", "a", "2")), Reason.NOT_FOUND, "'x'");
    assertFails(() -> client.delete("x"), Reason.NOT_FOUND, "'x'");
    assertFails(
        () -> client.insert(row("", "a", "2")),
        Reason.REFUSED,
        "a key has 1 to 1024 characters, this one 0");
  }

  @Test
  void scansOverAllServersInOrder() throws Exception {
    for (int i = 99; i >= 10; i--) {
      client.insert(row("k" + i, "a", "" + i));
    }
    assertThat(client.scan("k5", 12, List.of()))
        .extracting(Row::key)
        .containsExactly(
            "k50", "k51", "k52", "k53", "k54", "k55", "k56", "k57", "k58", "k59", "k60", "k61");
  }

  @Test
  void carriesLargeAndEmptyValues() throws Exception {
    ByteString large = ByteString.copyFrom(new byte[3 << 20]);
    client.insert(new Row("k", Map.of("", ByteString.EMPTY, "large", large)));
    assertThat(client.get("k", List.of()).fields())
        .containsOnly(Map.entry("", ByteString.EMPTY), Map.entry("large", large));
  }

  @Test
  void tellsAServerThatHasGone() {
    servers.forEach(KvsServer::close);
    assertFails(() -> client.get("k", List.of()), Reason.LOST, "does not answer");
  }

  @Test
  void tellsAPortWhereNobodyListens() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    assertThatThrownBy(() -> KvsClient.connect(List.of(new HostPort("127.0.0.1", port)), loops))
        .isInstanceOf(HarnessException.class)
        .hasMessageContaining("cannot connect to 127.0.0.1:" + port)
        .hasMessageContaining("Connection refused");
  }

  @Test
  void shellCarriesOutItsLines() {
    Shell shell = new Shell(client);
    assertThat(shell.execute("insert 7 \"name=Ada Lovelace\" born=1815").text())
        .isEqualTo("inserted");
    assertThat(shell.execute("update 7 born=10.12.1815").text()).isEqualTo("updated");
    assertThat(shell.execute("get 7").text()).isEqualTo("name=Ada Lovelace born=10.12.1815");
    assertThat(shell.execute("get 7 born").text()).isEqualTo("born=10.12.1815");
    assertThat(shell.execute("scan 0 5").text()).isEqualTo("7: name=Ada Lovelace born=10.12.1815");
    assertThat(shell.execute("delete 7").text()).isEqualTo("deleted");
    assertThat(shell.execute("").done()).isTrue();
    assertThat(shell.execute("help").text()).contains("insert KEY FIELD=VALUE...");
    assertThat(shell.execute("quit").end()).isTrue();
  }

  @Test
  void shellTellsWhatIsWrong() {
    Shell shell = new Shell(client);
    assertThat(shell.execute("get 8")).isEqualTo(Shell.Answer.error("there is no record '8'"));
    assertThat(shell.execute("insert 8 name").text())
        .isEqualTo("usage: insert KEY FIELD=VALUE..., not 'name'");
    assertThat(shell.execute("scan 8 many").text()).contains("not 'many'");
    assertThat(shell.execute("drop 8").text())
        .isEqualTo("there is no command 'drop'; 'help' lists them");
  }
}
