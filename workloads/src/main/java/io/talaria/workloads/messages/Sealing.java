// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.cli.harness.HarnessException;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Road;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;

/** How the nodes of a contender are to be connected: by its road, encrypted if it says so. */
final class Sealing {
  private static final int KEY_BYTES = 32;
  private static final String SEALED = ", sealed";

  private Sealing() {}

  private static Path key(String directory) {
    return Path.of(directory).resolve("key");
  }

  /**
   * Makes the key that both nodes are to have, if they need one.
   *
   * @param contender who
   * @param directory that both are told
   * @throws HarnessException if it cannot be written
   */
  static void prepare(MessagesContender contender, Path directory) throws HarnessException {
    if (!contender.sealed()) {
      return;
    }
    byte[] secret = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(secret);
    Path file = key(directory.toString());
    try {
      Path unused =
          Files.createFile(
              file,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      unused = Files.write(file, secret);
    } catch (IOException e) {
      throw new HarnessException("cannot write " + file + ": " + e, e);
    }
  }

  /**
   * Adds what makes a node of a contender.
   *
   * @param options of a node
   * @param contender which
   * @param directory as of {@link #prepare}
   * @return the options
   */
  static NodeOptions apply(NodeOptions options, MessagesContender contender, String directory) {
    NodeOptions more = options.roads(contender.road());
    return contender.sealed() ? more.key(key(directory)).sealed() : more;
  }

  /** The same for a node that others must reach: by TCP it listens on a free port. */
  static NodeOptions listen(NodeOptions options, MessagesContender contender) {
    return contender.road() == Road.STREAM ? options.listen("127.0.0.1", 0) : options;
  }

  /**
   * Fails unless a connection is as it shall be.
   *
   * @param contender who is measured
   * @param peer the other end, connected
   * @throws HarnessException if it took another road, or is not encrypted though it should be
   */
  static void check(MessagesContender contender, Peer peer) throws HarnessException {
    if (!contender.road().code().equals(peer.road())
        || contender.sealed() != peer.reason().endsWith(SEALED)) {
      throw new HarnessException(
          "for "
              + contender
              + " the road to node "
              + peer.id()
              + " is "
              + peer.road()
              + ", "
              + peer.reason());
    }
  }
}
