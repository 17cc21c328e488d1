// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.cli.harness.HarnessException;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;

/**
 * How the nodes of an implementation are to be connected: by its transport, encrypted if it says
 * so.
 */
public final class Encryption {
  private static final int KEY_BYTES = 32;
  private static final String ENCRYPTED = ", encrypted";

  private Encryption() {}

  private static Path key(String directory) {
    return Path.of(directory).resolve("key");
  }

  /**
   * Makes the key that both nodes are to have, if they need one.
   *
   * @param implementation the implementation
   * @param directory that both are told
   * @throws HarnessException if it cannot be written
   */
  public static void prepare(MessagesImplementation implementation, Path directory)
      throws HarnessException {
    if (!implementation.encrypted()) {
      return;
    }
    byte[] secret = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(secret);
    Path file = key(directory.toString());
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.write(file, secret);
    } catch (IOException e) {
      throw new HarnessException("cannot write " + file + ": " + e, e);
    }
  }

  /**
   * Adds what makes a node of an implementation.
   *
   * @param options of a node
   * @param implementation the implementation
   * @param directory as of {@link #prepare}
   * @return the options
   */
  public static NodeOptions apply(
      NodeOptions options, MessagesImplementation implementation, String directory) {
    NodeOptions more = options.transports(implementation.transport());
    return implementation.encrypted() ? more.key(key(directory)).encrypted() : more;
  }

  /** The same for a node that others must reach: by TCP it listens on a free port. */
  public static NodeOptions listen(NodeOptions options, MessagesImplementation implementation) {
    return implementation.transport() == Transport.TCP ? options.listen("127.0.0.1", 0) : options;
  }

  /**
   * Fails unless a connection has the transport and the encryption that it should have.
   *
   * @param implementation the implementation that is measured
   * @param peer the other end, connected
   * @throws HarnessException if it took another transport, or is not encrypted though it should be
   */
  public static void check(MessagesImplementation implementation, Peer peer)
      throws HarnessException {
    if (!implementation.transport().code().equals(peer.transport())
        || implementation.encrypted() != peer.reason().endsWith(ENCRYPTED)) {
      throw new HarnessException(
          "for "
              + implementation
              + " the transport to node "
              + peer.id()
              + " is "
              + peer.transport()
              + ", "
              + peer.reason());
    }
  }
}
