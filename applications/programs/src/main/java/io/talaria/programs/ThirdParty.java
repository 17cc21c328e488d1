// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;

/** A third-party server, and its clients. Each side runs in a JVM of its own and ends with it. */
public interface ThirdParty {
  /** How long an answer may take, in seconds, so that nothing hangs. */
  int PATIENCE_S = 60;

  /**
   * Starts the server on 127.0.0.1.
   *
   * @param folder where it may keep files; exists
   * @return its port
   * @throws Exception if it does not start
   */
  int serve(Path folder) throws Exception;

  /**
   * Opens one more connection, or a client that has at least one of its own.
   *
   * @param port where the server is
   * @throws Exception if it cannot connect
   */
  Guest connect(int port) throws Exception;

  /** Returns the length in bytes of the longest message that it takes as it is configured. */
  default int maxBytes() {
    return 1 << 20;
  }

  /** One client. */
  interface Guest {
    /**
     * Hands a message to the server and has it back.
     *
     * @param message what to send; not changed
     * @return what the server has made of it, which must be the same bytes
     * @throws Exception if it failed
     */
    byte[] exchange(byte[] message) throws Exception;

    /** Returns how many threads may use it at once. */
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
