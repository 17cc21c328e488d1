// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.TalariaProvider;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A client of {@link Traffic} that shows whether its connections still carry bytes. Each line of
 * input is answered by one line:
 *
 * <pre>
 *   echo    "said echoed" if an echo comes on each soon, else "said late"
 *   still   "said late" if those that were late do not come for much longer, else as wait
 *   wait    "said echoed" if those that were late come now, "said reset" if some end instead
 *   again   the same as echo, with new connections, which wait for their way: "said UCX echoed"
 * </pre>
 */
final class TrafficWatch {
  /** So many that each engine of the server has one: it takes turns. */
  private static final int CONNECTIONS = 4;

  private static final int FLOOD_BYTES = 32 << 10;
  private static final long SOON_NS = 1_000_000_000L;
  private static final long STILL_NS = 10_000_000_000L;
  private static final long LONG_NS = 60_000_000_000L;

  private final TalariaProvider provider;
  private final InetSocketAddress server;
  private final List<Watched> watched = new ArrayList<>();

  TrafficWatch(TalariaProvider provider, InetSocketAddress server) {
    this.provider = provider;
    this.server = server;
  }

  /** Writes for ever. */
  static void flood(TalariaProvider provider, InetSocketAddress server) throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(server);
    channel.write(
        ByteBuffer.allocate(TrafficServer.FRAME_BYTES).put(0, (byte) TrafficServer.FLOOD));
    ByteBuffer bytes = ByteBuffer.allocateDirect(FLOOD_BYTES);
    boolean said = false;
    while (true) {
      channel.write(bytes.clear());
      if (!said && TrafficClients.way(channel).transport() == NioTransport.UCX) {
        System.out.println("floods");
        said = true;
      }
    }
  }

  void run() throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println("said " + connect());
    String line;
    while ((line = lines.readLine()) != null) {
      System.out.println(
          "said "
              + switch (line) {
                case "echo" -> echo(SOON_NS);
                case "still" -> await(STILL_NS);
                case "wait" -> await(LONG_NS);
                default -> connect();
              });
    }
  }

  private String connect() throws IOException {
    watched.clear();
    for (int i = 0; i < CONNECTIONS; i++) {
      watched.add(new Watched(provider.openSocketChannel()));
    }
    String said;
    do {
      said = echo(LONG_NS);
    } while (watched.stream().anyMatch(each -> each.info().reason() == Reason.PENDING));
    return watched.get(0).info().transport() + " " + said;
  }

  private String echo(long limitNs) throws IOException {
    for (Watched each : watched) {
      each.ask();
    }
    return await(limitNs);
  }

  private String await(long limitNs) throws IOException {
    long startNs = System.nanoTime();
    while (watched.stream().anyMatch(each -> !each.over())) {
      for (Watched each : watched) {
        each.look();
      }
      if (System.nanoTime() - startNs > limitNs) {
        return "late";
      }
    }
    return watched.stream().anyMatch(each -> each.reset) ? "reset" : "echoed";
  }

  /** One connection. */
  private final class Watched {
    private final SocketChannel channel;
    private final Selector selector = provider.openSelector();
    private final ByteBuffer back = ByteBuffer.allocate(1);
    private boolean reset;

    Watched(SocketChannel channel) throws IOException {
      this.channel = channel;
      channel.connect(server);
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ);
    }

    ConnectionInfo info() {
      return TrafficClients.way(channel);
    }

    void ask() throws IOException {
      back.clear();
      // Of seed 0, whose first byte is 0.
      channel.write(
          ByteBuffer.allocate(TrafficServer.FRAME_BYTES + 1)
              .put(0, (byte) TrafficServer.ECHO)
              .putInt(1, 1));
    }

    boolean over() {
      return reset || !back.hasRemaining();
    }

    void look() throws IOException {
      if (over()) {
        return;
      }
      selector.select(1);
      selector.selectedKeys().clear();
      try {
        reset = channel.read(back) < 0;
      } catch (IOException e) {
        reset = true;
      }
    }
  }
}
