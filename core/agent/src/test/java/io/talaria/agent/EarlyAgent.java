// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/** Another agent, which makes a channel before the program starts. */
public final class EarlyAgent {
  private EarlyAgent() {}

  /**
   * Called before the program's {@code main}.
   *
   * @param arguments not used
   * @throws IOException if no channel can be made
   */
  public static void premain(String arguments) throws IOException {
    SocketChannel.open().close();
  }
}
