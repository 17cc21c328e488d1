// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SocketAddressesTest {
  private static InetSocketAddress thereAndBack(InetSocketAddress address) {
    try (Arena arena = Arena.ofConfined()) {
      return SocketAddresses.fromNative(SocketAddresses.toNative(arena, address));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1", "2001:db8::7"})
  void anAddressStaysWhatItIs(String text) throws UnknownHostException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(text), 50_000);
    assertThat(thereAndBack(address)).isEqualTo(address);
  }

  @Test
  void aLinkLocalAddressKeepsItsInterface() throws UnknownHostException {
    byte[] bytes = InetAddress.getByName("fe80::7").getAddress();
    InetSocketAddress address =
        new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 3), 50_000);
    InetAddress back = thereAndBack(address).getAddress();
    assertThat(back).isInstanceOf(Inet6Address.class);
    assertThat(((Inet6Address) back).getScopeId()).isEqualTo(3);
  }
}
