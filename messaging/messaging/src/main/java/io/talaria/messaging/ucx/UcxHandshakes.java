// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.ucx.Endpoint;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.WorkerAddress;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;

/**
 * The processes that a node reaches by UCX, and the handshakes in which two of them agree on an
 * endpoint: {@link UcxLayout} describes what these carry. For the conductor, except what is marked.
 */
final class UcxHandshakes {
  /** UCX numbers the endpoints between two workers with 16 bits; this leaves a margin. */
  private static final int MAX_MADE = 60_000;

  /**
   * The maximum difference between the two nodes' counts of endpoints; failed handshakes cause it.
   */
  private static final int MAX_BEHIND = 64;

  /** What this node knows of one process of another node. */
  private static final class Known {
    final int id;
    long incarnation;

    /** Number of endpoints made for its worker; see {@link UcxLayout}. */
    int made;

    UcxChannel channel;

    /** The token with which the stream of its next fresh endpoint must begin. */
    long token;

    /** Why UCX must not be used with it, or null. */
    String failure;

    Known(int id) {
      this.id = id;
    }

    boolean isOpen() {
      return channel != null && channel.isOpen();
    }
  }

  private final UcxTurns turns;
  private final byte[] address;
  private final SecureRandom random = new SecureRandom();

  /** Only for the holder of the worker. */
  private final Map<Integer, Known> known = new HashMap<>();

  /**
   * Creates it without processes.
   *
   * @param address of the worker
   */
  UcxHandshakes(UcxTurns turns, byte[] address) {
    this.turns = turns;
    this.address = address;
  }

  /** The open channel to a process, for the holder of the worker. */
  UcxChannel channel(int id) throws IOException {
    Known peer = known(id);
    if (!peer.isOpen()) {
      throw new IOException("its channel by UCX has failed");
    }
    return peer.channel;
  }

  /** Nothing came by a channel: UCX is not used with its process again. Holder of the worker. */
  void nothingCame(UcxChannel channel) {
    for (Known each : known.values()) {
      if (each.channel == channel) {
        each.failure = "nothing came by UCX";
      }
    }
  }

  private Known known(int id) {
    return known.computeIfAbsent(id, Known::new);
  }

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#offer}. */
  byte[] offer(int id) {
    if (!turns.enterWaiting()) {
      return new byte[0];
    }
    try {
      Known about = known(id);
      if (about.failure != null) {
        return new byte[0];
      }
      about.token = random.nextLong();
      ByteBuffer to = little(UcxLayout.OFFER_BYTES + address.length);
      to.putLong(about.incarnation).putInt(about.made);
      to.put((byte) (about.isOpen() ? 1 : 0)).position(UcxLayout.OFFER_BYTES - Long.BYTES);
      return bytes(to.putLong(about.token).put(address));
    } finally {
      turns.exit();
    }
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] bytes(ByteBuffer full) {
    byte[] bytes = new byte[full.flip().remaining()];
    full.get(bytes);
    return bytes;
  }

  private static ByteBuffer checked(byte[] bytes, int least) throws ProtocolException {
    if (bytes.length <= least) {
      throw new ProtocolException(bytes.length + " bytes about UCX");
    }
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#accept}. */
  byte[] accept(int id, long incarnation, long own, byte[] offer) throws IOException {
    if (offer.length == 0) {
      throw new IOException("it does not want to");
    }
    ByteBuffer from = checked(offer, UcxLayout.OFFER_BYTES);
    boolean aboutUs = from.getLong() == own;
    int madeThere = from.getInt();
    int openThere = from.get();
    long tokenOut = from.position(UcxLayout.OFFER_BYTES - Long.BYTES).getLong();
    turns.enterOrThrow();
    try {
      Known peer = of(id, incarnation);
      if (peer.failure != null) {
        throw new IOException(peer.failure);
      }
      int made = aboutUs ? madeThere : 0;
      boolean reuse = aboutUs && openThere == 1 && peer.isOpen() && made == peer.made;
      ByteBuffer to = little(UcxLayout.ANSWER_BYTES + address.length);
      if (reuse) {
        to.putInt(peer.made).putInt(0).putLong(0);
      } else {
        long tokenIn = random.nextLong();
        int before = Math.max(made, peer.made);
        open(peer, before, address(from), tokenIn, tokenOut);
        to.putInt(before).putInt(1).putLong(tokenIn);
      }
      return bytes(to.put(address));
    } finally {
      turns.exit();
    }
  }

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#accepted}. */
  void accepted(int id, long incarnation, byte[] answer) throws IOException {
    ByteBuffer from = checked(answer, UcxLayout.ANSWER_BYTES);
    int made = from.getInt();
    boolean fresh = from.getInt() == 1;
    long tokenOut = from.getLong();
    turns.enterOrThrow();
    try {
      Known peer = of(id, incarnation);
      if (fresh) {
        open(peer, made, address(from), peer.token, tokenOut);
      } else if (!peer.isOpen() || made != peer.made) {
        throw new IOException("the endpoint to continue with does not exist");
      }
    } finally {
      turns.exit();
    }
  }

  /** Returns what is known of a process. Forgets an earlier process with the same id. */
  private Known of(int id, long incarnation) {
    Known peer = known(id);
    if (peer.incarnation != incarnation) {
      if (peer.isOpen()) {
        peer.channel.end("another process has its id");
      }
      peer.channel = null;
      peer.incarnation = incarnation;
      peer.made = 0;
      peer.failure = null;
    }
    return peer;
  }

  private static WorkerAddress address(ByteBuffer from) throws ProtocolException {
    byte[] bytes = new byte[from.remaining()];
    from.get(bytes);
    try {
      return WorkerAddress.of(bytes);
    } catch (IllegalArgumentException e) {
      throw new ProtocolException(e.getMessage());
    }
  }

  /**
   * Makes an endpoint.
   *
   * @param before how many endpoints both sides count before it; missing ones are made and closed
   */
  private void open(Known peer, int before, WorkerAddress to, long tokenIn, long tokenOut)
      throws IOException {
    if (before < peer.made || before - peer.made > MAX_BEHIND) {
      throw new IOException(
          "the other side has made " + before + " endpoints, this one " + peer.made);
    }
    if (before >= MAX_MADE) {
      throw new IOException(before + " endpoints were made: UCX has no numbers for more");
    }
    if (peer.isOpen()) {
      peer.channel.end("the other side has lost the connection, and made a new one");
    }
    String name = "node " + peer.id;
    Endpoint.Options options = Endpoint.Options.to(to).name(name);
    try {
      while (peer.made < before) {
        Endpoint unpaired = turns.connect(options); // the other end's part was never made
        peer.made++;
        turns.closeUnpaired(unpaired);
      }
      Endpoint endpoint = turns.connect(options);
      peer.made++;
      UcxChannel channel = new UcxChannel(turns, name, endpoint, tokenIn, tokenOut);
      if (!channel.isOpen()) {
        throw new IOException("its channel by UCX has failed");
      }
      peer.channel = channel;
      turns.add(channel);
    } catch (UcxException e) {
      peer.failure = "UCX finds no channel to it: " + e.getMessage();
      throw new IOException(peer.failure, e);
    }
  }
}
