// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for programs that must know theirs before they bind it, or bind it a second time. */
public final class FreePort {
  /** The kernel gives clients and listeners without a wish ports from 32768 on. */
  private static final int FIRST = 20_000;

  private static final int END = 32_000;
  private static final int TRIES = 1000;

  private FreePort() {}

  /**
   * A port on which nobody listens now, and which the kernel gives nobody who has not asked for it.
   *
   * @return a port chosen by chance
   * @throws IOException if none seems to be free
   */
  public static int any() throws IOException {
    IOException last = null;
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        last = e;
      }
    }
    throw new IOException("no free port from " + FIRST + " to " + END, last);
  }
}
