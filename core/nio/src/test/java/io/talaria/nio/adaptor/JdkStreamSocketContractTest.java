// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/** The JDK's own implementation: the reference that shows what the contract may demand. */
class JdkStreamSocketContractTest extends StreamSocketContract {
  @Override
  Socket newSocket() {
    return new Socket();
  }

  @Override
  ServerSocket newServerSocket() throws IOException {
    return new ServerSocket();
  }

  @Override
  void settle(Socket one, Socket other) {
    // It takes no other transport.
  }
}
