// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The accepting side learns the time to live that the connecting side has chosen. */
@Timeout(60)
class JdkTtlTest {
  private static int received(SocketChannel client, ServerSocketChannel listener) throws Exception {
    client.connect(listener.getLocalAddress());
    try (SocketChannel accepted = listener.accept()) {
      return JdkTtl.received(accepted);
    }
  }

  private static ServerSocketChannel listener(StandardProtocolFamily family) throws Exception {
    ServerSocketChannel listener = JdkNio.provider().openServerSocketChannel(family);
    listener.bind(new InetSocketAddress("127.0.0.1", 0));
    return listener;
  }

  @ParameterizedTest
  @EnumSource(names = {"INET", "INET6"})
  void theClientsChoiceArrives(StandardProtocolFamily family) throws Exception {
    assumeTrue(JdkTtl.known(), "sun.nio.ch is not open");
    try (ServerSocketChannel listener = listener(family)) {
      for (int ttl : new int[] {65, 130, 219, 255}) {
        try (SocketChannel client = JdkNio.provider().openSocketChannel(family)) {
          assertThat(JdkTtl.set(client, ttl)).isTrue();
          assertThat(received(client, listener)).isEqualTo(ttl);
        }
      }
      try (SocketChannel client = JdkNio.provider().openSocketChannel(family)) {
        assertThat(received(client, listener)).isNotZero().isLessThan(130);
      }
    }
  }

  @Test
  void noSystemGivesItsPacketsWhatCannotBe() throws Exception {
    try (SocketChannel open = JdkNio.provider().openSocketChannel()) {
      assertThat(JdkTtl.set(open, 256)).isFalse();
    }
  }
}
