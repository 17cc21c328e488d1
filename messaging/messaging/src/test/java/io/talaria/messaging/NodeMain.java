// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Text;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A node in a process of its own: {@code NodeMain VARIANT DIRECTORY ID}. Says its port when it
 * runs, ends when its input ends.
 */
final class NodeMain {
  /** Requests that are never answered: if the collector found them, they would end. */
  private static final Queue<Request> KEPT = new ConcurrentLinkedQueue<>();

  private NodeMain() {}

  public static void main(String[] args) throws Exception {
    Variant.Nodes nodes = new Variant.Nodes(Variant.valueOf(args[0]), Path.of(args[1]));
    int id = Integer.parseInt(args[2]);
    AtomicLong next = new AtomicLong();
    AtomicReference<String> wrong = new AtomicReference<>("");
    NodeOptions options = nodes.options(id);
    Node node;
    try {
      node = start(nodes, options, next, wrong);
    } catch (IOException e) {
      System.out.println("FAILED " + e.getMessage());
      return;
    }
    System.out.println("RUNS " + node.port());
    System.out.flush();
    while (System.in.read() >= 0) {
      // Until the parent ends, or ends this.
    }
    node.close();
  }

  /** Sends large messages until this process is killed, or its handler ended. */
  private static void flood(Peer peer) throws MessagingException {
    for (int i = 0; ; i++) {
      peer.send(new Bytes(new byte[i % 4 == 0 ? 2 << 20 : 200_000]));
    }
  }

  private static Node start(
      Variant.Nodes nodes, NodeOptions options, AtomicLong next, AtomicReference<String> wrong)
      throws Exception {
    return nodes.start(
        options
            .sendTimeout(TestVerbs.limit())
            .type(Pair.class)
            .type(Text.class)
            .type(Response.class)
            .type(Bytes.class)
            .receive(
                Pair.class,
                (pair, from) -> {
                  if (pair.first() != next.getAndIncrement()) {
                    wrong.set("got " + pair.first() + " instead of " + (next.get() - 1));
                  }
                })
            .handle(
                Pair.class,
                Dispatch.INLINE,
                (pair, request) -> request.respond(new Response(pair.first() + pair.second())))
            .handle(
                Text.class,
                Dispatch.ORDERED,
                (text, request) -> {
                  switch (text.text()) {
                    case "count" -> request.respond(new Response(next.get()));
                    case "wrong" -> request.respond(new Text(wrong.get()));
                    case "never" -> KEPT.add(request);
                    case "flood" -> {
                      request.respond(text);
                      flood(request.from());
                    }
                    default -> request.respond(text);
                  }
                })
            .handle(Bytes.class, Dispatch.ORDERED, (bytes, request) -> request.respond(bytes)));
  }
}
