// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/** Channels of Talaria's behind the sockets that connect, the JDK's own behind the others. */
class PlainStreamSocketContractTest extends StreamSocketContract {
  @Override
  Socket newSocket() throws IOException {
    return TalariaStreamSocketContractTest.ImplSocket.make();
  }

  @Override
  ServerSocket newServerSocket() throws IOException {
    return new ServerSocket();
  }

  @Override
  void settle(Socket one, Socket other) {
    // Plain TCP for good.
  }
}
