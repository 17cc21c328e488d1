// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.thirdparty;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * A third-party server, and its clients. An implementation has a constructor without parameters;
 * {@link Side} runs one side of it, and ends it with the JVM.
 */
interface ThirdParty {
  /** How long an answer may take, so that nothing hangs. */
  int PATIENCE_S = 60;

  /**
   * Starts the server on 127.0.0.1.
   *
   * @return its port
   */
  int serve() throws Exception;

  /**
   * Opens one more connection, or a client that has at least one of its own.
   *
   * @param port where the server is
   */
  Guest connect(int port) throws Exception;

  /** The longest message that this program takes without being configured for it. */
  default int mostBytes() {
    return 1 << 20;
  }

  /** One client. */
  interface Guest {
    /**
     * Hands a message to the server and has it back.
     *
     * @return what the server has made of it, which must be the same bytes
     */
    byte[] exchange(byte[] message) throws Exception;

    /** How many threads may use it at once. */
    default int threads() {
      return 1;
    }
  }

  /** A port for servers that want to be told one. */
  static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    }
  }
}
