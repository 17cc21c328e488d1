// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/** The other node of {@code talaria example messages}: answers until its input ends. */
public final class MessagesNode {
  static final int OTHER = 2;

  /** A request, and its response. */
  record Line(String text) {}

  private MessagesNode() {}

  /**
   * Runs the node.
   *
   * @param args the cluster
   */
  public static void main(String[] args) throws IOException {
    Node node = Nodes.start(options(OTHER, args[0]));
    while (System.in.read() >= 0) {
      // Until the process that started this one ends, or tells it to end.
    }
    node.close();
  }

  static NodeOptions options(int id, String cluster) {
    return NodeOptions.of(id)
        .cluster(cluster)
        .sendTimeout(Duration.ofSeconds(5))
        .lookup(MethodHandles.lookup())
        .handle(
            Line.class,
            Dispatch.ORDERED,
            (line, request) -> request.respond(new Line(line.text().toUpperCase(Locale.ROOT))));
  }

  static Process start(String cluster) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            MessagesNode.class.getName(),
            cluster)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
