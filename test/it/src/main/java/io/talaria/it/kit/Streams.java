// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Random;

/**
 * Makes the two streams of a connection, so that each side knows what the other must send: the
 * seeds depend on both addresses, which both see. Any thread may call it.
 */
public final class Streams {
  private final Args args;
  private final boolean server;
  private final long salt;
  private final boolean portsKnown;
  private final long minBytes;
  private final long maxBytes;
  private final String end;
  private final Hold hold;

  /**
   * Reads what the streams are like from a program's arguments.
   *
   * @param args {@code salt}, {@code ports} (known, or any behind a forwarder), {@code min} and
   *     {@code max} (bytes this side sends on a connection), {@code end} (half: shut down the
   *     output, then await the peer's end; close: close as soon as all is sent and received;
   *     random), {@code slow} (from so many bytes on a stream is sent slowly, until the command
   *     {@code go})
   * @param server whether this side accepts
   */
  public Streams(Args args, boolean server) {
    this.args = args;
    this.server = server;
    this.salt = args.number("salt", 1);
    this.portsKnown = !args.is("ports", "any", "known");
    this.minBytes = args.number("min", Pattern.HEADER_BYTES);
    this.maxBytes = args.number("max", 1 << 20);
    this.end = args.text("end", "half");
    this.hold = new Hold(args);
  }

  /**
   * Makes both streams of a connected channel.
   *
   * @param channel the connection
   * @return the traffic, not yet begun
   * @throws IOException if the channel cannot tell its addresses
   */
  public Traffic traffic(SocketChannel channel) throws IOException {
    var local = (InetSocketAddress) channel.getLocalAddress();
    var remote = (InetSocketAddress) channel.getRemoteAddress();
    long connection = server ? seed(remote, local) : seed(local, remote);
    long ownSeed = seed(connection, server);
    Random chance = new Random(ownSeed);
    long bytes = Shape.logUniform(chance, minBytes, maxBytes);
    Source source =
        new Source(new Pattern(ownSeed, bytes), new Shape(args, Pattern.mix(ownSeed + 1)), hold);
    Drain drain =
        new Drain(
            portsKnown ? seed(connection, !server) : Drain.ANY_SEED,
            new Shape(args, Pattern.mix(ownSeed + 2)));
    boolean halfClose = end.equals("half") || (end.equals("random") && chance.nextBoolean());
    return new Traffic(channel, server, source, drain, halfClose);
  }

  private long seed(InetSocketAddress client, InetSocketAddress listener) {
    return Pattern.mix(Pattern.mix((salt << 20) + word(client)) + word(listener));
  }

  private static long word(InetSocketAddress address) {
    return ((long) address.getAddress().hashCode() << 16) + address.getPort();
  }

  private static long seed(long connection, boolean ofServer) {
    return Pattern.mix(connection + (ofServer ? 1 : 0)) | 1;
  }
}
