// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.net.ExtendedSocketOptions;

/** Who is at the other end of a Unix-domain socket, as the kernel says (SO_PEERCRED). */
public final class PeerCredentials {
  private static final boolean KNOWN = ModuleLayer.boot().findModule("jdk.net").isPresent();

  private PeerCredentials() {}

  /** Whether this Java can tell at all: a run-time image may lack the module jdk.net. */
  public static boolean known() {
    return KNOWN;
  }

  /** Whether the peer runs as the user who owns a directory, which is this process's own. */
  public static boolean sameUser(SocketChannel channel, Path ownDirectory) throws IOException {
    try {
      String peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
      return peer.equals(Files.getOwner(ownDirectory).getName());
    } catch (UnsupportedOperationException | NoClassDefFoundError e) {
      return false; // a run-time image without jdk.net: no peer can be trusted
    }
  }
}
