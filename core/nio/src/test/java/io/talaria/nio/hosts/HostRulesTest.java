// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What rules match, and what is said of those that make no sense. */
@Timeout(60)
class HostRulesTest {
  @TempDir Path dir;

  private static InetSocketAddress at(String address, int port) throws IOException {
    return new InetSocketAddress(InetAddress.getByName(address), port);
  }

  private static HostRules rules(String text) throws IOException {
    return HostRules.parse(text, "rules");
  }

  @ParameterizedTest
  @CsvSource({
    "connect 10.1.0.0/16 9092-9094, 10.1.255.3, 9093, true",
    "connect 10.1.0.0/16 9092-9094, 10.2.0.3, 9093, false",
    "connect 10.1.0.0/16 9092-9094, 10.1.0.3, 9095, false",
    "connect 10.1.0.0/16 9092-9094, 10.1.0.3, 9091, false",
    "connect 10.1.2.3 *, 10.1.2.3, 1, true",
    "connect 10.1.2.3 *, 10.1.2.4, 1, false",
    "connect 10.1.2.2/31 80, 10.1.2.3, 80, true",
    "connect 0.0.0.0/0 80, 10.1.2.3, 80, true",
    "connect * 1024-*, 10.1.2.3, 65535, true",
    "connect * *-1024, 10.1.2.3, 1025, false",
    "connect fd00::/8 80, fd12::1, 80, true",
    "connect fd00::/8 80, 2001:db8::1, 80, false",
    "connect fd00::/8 80, 10.1.2.3, 80, false",
    "CONNECT\t*   80 # all of them, 10.1.2.3, 80, true",
    "bind * 80, 10.1.2.3, 80, false",
  })
  void connectRulesNameServices(String rule, String address, int port, boolean matches)
      throws IOException {
    assertThat(rules(rule).connects(at(address, port))).isEqualTo(matches);
  }

  @ParameterizedTest
  @CsvSource({
    "bind * 2181, 0.0.0.0, 2181, true",
    "bind * 2181, 10.1.2.3, 2181, true",
    "bind 10.1.2.3 2181, 0.0.0.0, 2181, true",
    "bind 10.1.2.3 2181, 10.1.2.4, 2181, false",
    "bind 10.1.2.3 2181, 0.0.0.0, 2182, false",
    "connect * 2181, 0.0.0.0, 2181, false",
  })
  void bindRulesNameListeners(String rule, String address, int port, boolean matches)
      throws IOException {
    assertThat(rules(rule).listens(at(address, port))).isEqualTo(matches);
  }

  /** A listener on all addresses serves only those that a rule names. */
  @Test
  void connectionsToOtherAddressesAreNotMeant() throws IOException {
    HostRules rules = rules("bind 10.1.2.3 2181");
    assertThat(rules.listens(at("0.0.0.0", 2181))).isTrue();
    assertThat(rules.binds(at("10.1.2.3", 2181))).isTrue();
    assertThat(rules.binds(at("192.168.0.1", 2181))).isFalse();
  }

  @Test
  void commentsAndEmptyLinesAreNoRules() throws IOException {
    assertThat(rules("# nothing\n\n   \t\r\n  # bind * 1\r\nbind * 1\n").size()).isEqualTo(1);
    assertThat(rules("").connects(at("10.1.2.3", 80))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "listen * 80 | 'listen' must be connect or bind",
        "connect 10.1.2.3 | 'connect 10.1.2.3' must be three words: connect or bind, addresses,"
            + " ports",
        "connect * 80 90 | 'connect * 80 90' must be three words: connect or bind, addresses,"
            + " ports",
        "connect 10.1.2 80 | '10.1.2' must be an address such as 10.1.2.3 or fd00::1",
        "connect 10.1.2.300 80 | '10.1.2.300' must be an address such as 10.1.2.3 or fd00::1",
        "connect fd00:::1 80 | 'fd00:::1' must be an address such as 10.1.2.3 or fd00::1",
        "connect 10.0.0.0/33 80 | '10.0.0.0/33' must be an address with a prefix of at most 32"
            + " bits",
        "connect 10.0.0.0/x 80 | '10.0.0.0/x' must be an address with a prefix of at most 32"
            + " bits",
        "connect db/8 80 | 'db/8' must be an address, an address with a prefix such as"
            + " 10.1.0.0/16, a name, or *",
        "connect a..;b 80 | 'a..;b' must be an address, an address with a prefix such as"
            + " 10.1.0.0/16, a name, or *",
        "bind * 0 | '0' must be a port from 1 to 65535, a range such as 9092-9094, or *",
        "bind * 65536 | '65536' must be a port from 1 to 65535, a range such as 9092-9094, or *",
        "bind * http | 'http' must be a port from 1 to 65535, a range such as 9092-9094, or *",
        "bind * 5-4 | '5-4' must be a range of ports from the lower to the higher",
        "bind * 1-2-3 | '1-2-3' must be a port from 1 to 65535, a range such as 9092-9094, or *",
      })
  void whatMakesNoSenseIsNamedWithItsLine(String line, String message) {
    assertThatThrownBy(() -> rules("# first\n" + line + "\n"))
        .isInstanceOf(IOException.class)
        .hasMessage("rules, line 2: " + message);
  }

  @Test
  void aFileIsNamedInWhatIsSaidOfIt() throws IOException {
    Path file = Files.writeString(dir.resolve("my.rules"), "bind *");
    assertThatThrownBy(() -> HostRules.read(file))
        .hasMessageStartingWith(file + ", line 1: 'bind *' must be");
    Path large = Files.write(dir.resolve("large"), new byte[65_537]);
    assertThatThrownBy(() -> HostRules.read(large))
        .hasMessage(large + " is longer than 65536 bytes");
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost"})
  void namesMatchOnceTheyHaveBeenLookedUp(String name) throws Exception {
    HostRules rules = rules("connect " + name + " 80");
    assertThat(rules.resolved()).isFalse();
    assertThat(rules.connects(at("127.0.0.1", 80))).isFalse();
    rules.resolve(line -> {});
    awaitResolved(rules);
    assertThat(rules.connects(at("127.0.0.1", 80))).isTrue();
    assertThat(rules.connects(at("10.1.2.3", 80))).isFalse();
  }

  @Test
  void aNameThatNobodyKnowsMatchesNothing() throws Exception {
    HostRules rules = rules("connect nobody.invalid 80\nconnect 10.1.2.3 80");
    List<String> said = new CopyOnWriteArrayList<>();
    rules.resolve(said::add);
    awaitResolved(rules);
    assertThat(said)
        .containsExactly("no address is known of 'nobody.invalid'; its rules match nothing");
    assertThat(rules.connects(at("10.1.2.3", 80))).isTrue();
  }

  private static void awaitResolved(HostRules rules) throws InterruptedException {
    while (!rules.resolved()) {
      Thread.sleep(1); // the test has a deadline
    }
  }
}
