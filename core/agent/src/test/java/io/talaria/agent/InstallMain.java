// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.nio.TalariaSockets;
import java.io.IOException;

/** A program that installs Talaria's sockets by itself, twice. */
public final class InstallMain {
  private InstallMain() {}

  /**
   * Prints what {@link SocketMain#exchange} returns.
   *
   * @param args not used
   * @throws IOException if they cannot be installed, or do not work
   */
  public static void main(String[] args) throws IOException {
    TalariaSockets.install();
    TalariaSockets.install();
    System.out.println(SocketMain.exchange());
  }
}
