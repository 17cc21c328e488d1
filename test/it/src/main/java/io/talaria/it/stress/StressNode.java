// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import io.talaria.it.kit.Console;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One process of a program that was generated at random: says {@code @ready port=...}; connects to
 * all at the command {@code peers PORT...}, which begins it and may come again; says {@code @late}
 * when something that must happen does not, and {@code @recovered} when it then does; wakes its
 * selectors at {@code wake}; ends everything at {@code stop}, and says {@code @stopped} with what
 * it has counted. At {@code tell} it says that at any time, with {@code @told}.
 */
public final class StressNode {
  private StressNode() {}

  /**
   * Runs the program.
   *
   * @param arguments name (a number that no other process has), seed, selectors, workers,
   *     connections, actors, actUs, restUs, bytes, limitMs, and ledger: a file for what has ended
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Node node = new Node(args);
          Console.say("ready", "port", node.gate.port());
          boolean started = false;
          while (true) {
            String[] words = Console.command().split(" ");
            switch (words[0]) {
              case "peers" -> {
                if (started) {
                  node.peers(peers(words));
                } else {
                  node.start(peers(words));
                  started = true;
                }
              }
              case "wake" -> node.wakeAll();
              case "tell" -> Console.say("told", node.numbers());
              case "stop" ->
                  Console.daemon(
                      "stop",
                      () -> {
                        node.stop();
                        node.ledger.write(Path.of(args.text("ledger", "ledger")));
                        Console.say("stopped", node.numbers());
                      });
              default -> throw new IllegalArgumentException("no command: " + words[0]);
            }
          }
        });
  }

  private static List<InetSocketAddress> peers(String[] words) {
    List<InetSocketAddress> peers = new ArrayList<>();
    for (int i = 1; i < words.length; i++) {
      peers.add(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[i])));
    }
    return peers;
  }
}
