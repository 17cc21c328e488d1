// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.NodeDirectory;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Request;
import io.talaria.messaging.TestVerbs;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.node.RemotePeer;
import io.talaria.ucx.Ucx;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * One of the two nodes of {@link WakeUpsTest}, of which none asks whether the other lives: nothing
 * but a wake-up in its time ends a wait.
 */
final class WakeUps {
  static final Duration LIMIT = Duration.ofSeconds(90);

  record Inline(long value) {}

  record Ordered(long value) {}

  record Back(long value) {}

  record Message(long value) {}

  @SuppressWarnings("ArrayRecordComponent") // its length is compared
  record Blob(byte[] bytes) {}

  private WakeUps() {}

  static LocalNode start(
      int id, Transport transport, int dataRingBytes, Path directory, int portOfOther)
      throws Exception {
    if (transport == Transport.UCX) {
      // Its own look at whether the others live would bring a lost wake-up to light.
      Ucx.defaultSetting("UCX_KEEPALIVE_INTERVAL", "3600s");
    }
    InetSocketAddress other =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Math.max(0, portOfOther));
    NodeOptions options =
        NodeOptions.of(id)
            .cluster("test")
            .runDirectory(directory.resolve("run"))
            .sharedMemoryDirectory(directory.resolve("shm"))
            .transports(transport)
            .dataRingBytes(dataRingBytes)
            .controlRingBytes(Math.max(16 << 10, dataRingBytes >>> 2))
            .sendTimeout(LIMIT)
            .directory(portOfOther > 0 ? Map.of(3 - id, other)::get : NodeDirectory.thisHost())
            .receive(Message.class, Dispatch.INLINE, (message, from) -> {})
            .receive(Blob.class, (blob, from) -> {})
            .handle(Inline.class, Dispatch.INLINE, (number, request) -> request.respond(number))
            .handle(Ordered.class, Dispatch.ORDERED, (number, request) -> request.respond(number))
            .handle(Back.class, Dispatch.ORDERED, WakeUps::requestBack)
            .handle(Blob.class, Dispatch.ORDERED, (blob, request) -> request.respond(blob));
    return RunningNodes.start(
        transport == Transport.TCP ? options.listen("127.0.0.1", 0) : options, false);
  }

  private static void requestBack(Back number, Request request) throws MessagingException {
    Inline inline = new Inline(number.value());
    request.respond(new Back(request.from().request(inline, Inline.class, LIMIT).value()));
  }

  /** Skips the test if the transport cannot be used here. */
  static void assume(Transport transport) {
    if (transport == Transport.UCX) {
      assumeThat(Ucx.unavailableReason()).isEmpty();
    } else if (transport == Transport.VERBS) {
      assumeThat(TestVerbs.prepare()).isEmpty();
    }
  }

  /** How all connections of a node stand, and what its threads do. */
  static String state(LocalNode node) {
    StringBuilder text = new StringBuilder("node " + node.id() + "\n");
    for (RemotePeer each : node.remotes()) {
      Connection connection = each.connection();
      text.append(each).append(": ").append(connection == null ? "none" : connection.state());
      text.append('\n');
    }
    Thread.getAllStackTraces()
        .forEach(
            (thread, stack) -> {
              text.append(thread.getName()).append(' ').append(thread.getState()).append('\n');
              for (StackTraceElement frame : stack) {
                text.append("    ").append(frame).append('\n');
              }
            });
    return text.toString();
  }

  /**
   * Runs node 2 until its input ends; a line makes it tell how it stands.
   *
   * @param args transport, bytes of a ring, directory
   */
  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[2]);
    LocalNode node = start(2, Transport.valueOf(args[0]), Integer.parseInt(args[1]), directory, -1);
    System.out.println(node.port());
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (in.readLine() != null) {
      System.err.println(state(node));
    }
    node.close(LIMIT);
  }
}
