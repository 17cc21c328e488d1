// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Nodes where the library of a transport is not found: {@code WithoutLibraryMain TRANSPORT
 * DIRECTORY}. Says why a node that has no other transport does not start, and what nodes with
 * another one say to each other, and by which. A process of its own, because libraries are looked
 * for once.
 */
final class WithoutLibraryMain {
  private WithoutLibraryMain() {}

  public static void main(String[] args) throws Exception {
    Transport missing = Transport.valueOf(args[0]);
    Path directory = Path.of(args[1]);
    fail(options(directory, 1).transports(missing));
    fail(options(directory, 1).transports(Transport.VERBS, Transport.UCX));
    try (Node far = Nodes.start(options(directory, 2).transports(Transport.SHM, missing));
        Node near = Nodes.start(options(directory, 1).transports(Transport.SHM, missing))) {
      Peer peer = near.peer(far.id());
      long value = peer.request(new Pair(7, 0), Response.class, Duration.ofSeconds(60)).value();
      System.out.println(value + " by " + peer.transport());
    }
  }

  private static void fail(NodeOptions options) {
    try (Node node = Nodes.start(options)) {
      System.out.println("node " + node.id() + " runs");
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
  }

  private static NodeOptions options(Path directory, int id) {
    return NodeOptions.of(id)
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"))
        .sendTimeout(Duration.ofSeconds(20))
        .type(Response.class)
        .handle(
            Pair.class,
            Dispatch.INLINE,
            (pair, request) -> request.respond(new Response(pair.first())));
  }
}
