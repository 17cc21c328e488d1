// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Figures and addresses for people. */
@Timeout(60)
class ShowTest {
  @Test
  void bytesAreInBinaryUnits() {
    assertThat(Show.bytes(0)).isEqualTo("0 B");
    assertThat(Show.bytes(1023)).isEqualTo("1023 B");
    assertThat(Show.bytes(1024)).isEqualTo("1 KiB");
    assertThat(Show.bytes(65536)).isEqualTo("64 KiB");
    assertThat(Show.bytes(1536)).isEqualTo("1.5 KiB");
    assertThat(Show.bytes((1 << 20) - 1)).isEqualTo("1.0 MiB");
    assertThat(Show.bytes(5L << 30)).isEqualTo("5 GiB");
    assertThat(Show.bytes(Long.MAX_VALUE)).isEqualTo("8 EiB");
    assertThat(Show.bytes(-5)).isEqualTo("-5 B");
  }

  @Test
  void agesAreInTheirTwoLargestUnits() {
    assertThat(Show.age(-1)).isEqualTo("0s");
    assertThat(Show.age(59_999)).isEqualTo("59s");
    assertThat(Show.age(60_000)).isEqualTo("1m00s");
    assertThat(Show.age(3_725_000)).isEqualTo("1h02m");
    assertThat(Show.age(90_000_000)).isEqualTo("1d01h");
  }

  private static String address(String host) throws Exception {
    return Show.address(new InetSocketAddress(InetAddress.getByName(host), 80));
  }

  @Test
  void addressesAreShort() throws Exception {
    assertThat(Show.address(null)).isEqualTo("-");
    assertThat(Show.address(new InetSocketAddress(9092))).isEqualTo("*:9092");
    assertThat(address("::")).isEqualTo("*:80");
    assertThat(address("10.1.0.7")).isEqualTo("10.1.0.7:80");
    assertThat(address("::1")).isEqualTo("[::1]:80");
    assertThat(address("fe80::1:0:0:2")).isEqualTo("[fe80::1:0:0:2]:80");
    assertThat(address("2001:db8::")).isEqualTo("[2001:db8::]:80");
    assertThat(address("2001:db8:0:1:2:3:4:5")).isEqualTo("[2001:db8:0:1:2:3:4:5]:80");
    assertThat(address("1:0:0:2:0:0:0:3")).isEqualTo("[1:0:0:2::3]:80");
  }

  @Test
  void longTextsAreCut() {
    assertThat(Show.cut("Server", 6)).isEqualTo("Server");
    assertThat(Show.cut("Servers", 6)).isEqualTo("Serve…");
  }
}
