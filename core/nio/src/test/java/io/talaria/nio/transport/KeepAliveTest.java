// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;

class KeepAliveTest {
  @Test
  void theTimesAreTheConnections() throws Exception {
    try (SocketChannel channel = SocketChannel.open()) {
      KeepAlive.enable(channel, 7, 3, 4);
      assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
      assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(7);
      assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL)).isEqualTo(3);
      assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT)).isEqualTo(4);
    }
  }

  @Test
  void aClosedChannelRefuses() throws Exception {
    SocketChannel channel = SocketChannel.open();
    channel.close();
    assertThatThrownBy(() -> KeepAlive.enable(channel, 7, 3, 4))
        .isInstanceOf(ClosedChannelException.class);
  }
}
