// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import io.talaria.nio.TalariaProvider;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** Talaria's own channels and the adaptors they give. */
class TalariaSocketContractTest extends SocketContract {
  private static final SelectorProvider PROVIDER = new TalariaProvider();

  @Override
  SelectorProvider provider() {
    return PROVIDER;
  }

  @Override
  Socket socketOf(SocketChannel channel) {
    return channel.socket();
  }

  @Override
  ServerSocket socketOf(ServerSocketChannel channel) {
    return channel.socket();
  }
}
