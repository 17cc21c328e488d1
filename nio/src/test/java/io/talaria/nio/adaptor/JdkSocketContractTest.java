// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** The JDK's own adaptors: the reference that shows what the contract may demand. */
class JdkSocketContractTest extends SocketContract {
  @Override
  Socket socketOf(SocketChannel channel) {
    return channel.socket();
  }

  @Override
  ServerSocket socketOf(ServerSocketChannel channel) {
    return channel.socket();
  }
}
