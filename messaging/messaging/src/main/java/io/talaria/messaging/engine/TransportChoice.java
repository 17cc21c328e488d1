// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.handshake.HandshakeMessage.Offer;
import io.talaria.messaging.handshake.HandshakeMessage.Welcome;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.ShmLayout;
import io.talaria.messaging.transport.ShmLink;
import io.talaria.messaging.transport.TcpLink;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.process.Host;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/**
 * Which transport a connection uses, and what it takes to set it up. Conductor's thread.
 *
 * <p>The side that dials offers transports; the side that accepts chooses: {@code shm} on one host,
 * else {@code ucx}, else {@code tcp}.
 */
final class TransportChoice {
  /** Why a handshake is rejected. */
  record Rejection(byte code, String text) {}

  private final NodeOptions options;
  private final NodeSecurity security;
  private final long incarnation;
  private final Offer offer;
  private final SharedFiles files;

  /** Or null. */
  private final NetworkTransport network;

  /** Why {@link #network} is null. */
  private final String networkUnavailableReason;

  TransportChoice(
      NodeOptions options, Network network, Types types, NodeSecurity security, long incarnation) {
    this.options = options;
    this.network = network.transport();
    networkUnavailableReason = network.unavailableReason();
    this.security = security;
    this.incarnation = incarnation;
    files = new SharedFiles(RunDirectories.shm(options));
    List<TypeEntry> entries = types.entries();
    offer =
        new Offer(
            Host.pid(),
            options.maxMessageBytes(),
            options.dataRingBytes(),
            options.controlRingBytes(),
            entries.stream().map(TypeEntry::name).toList(),
            entries.stream().map(each -> each.fingerprint).toList());
  }

  /** What this node says of itself. */
  Offer offer() {
    return offer;
  }

  /** Whether nodes of this host must find this node. */
  boolean usesThisHost() {
    return options.transports().contains(Transport.SHM) || network != null;
  }

  /** Removes files that processes left which are gone. */
  void sweep() {
    files.sweep();
  }

  void removeFiles() {
    files.removeAll();
  }

  /**
   * The transports that a handshake can lead to, bits of {@link HandshakeMessage}.
   *
   * @param local whether with a node on this host
   */
  int available(boolean local) {
    Set<Transport> own = options.transports();
    int transports = own.contains(Transport.TCP) ? HandshakeMessage.TCP : 0;
    if (local && own.contains(Transport.SHM)) {
      transports |= HandshakeMessage.SHM;
    }
    if (network != null && (local || ucxRefusal() == null)) {
      transports |= HandshakeMessage.UCX;
    }
    return transports;
  }

  /** Why transport ucx is not used between hosts, or null if it is. */
  String ucxRefusal() {
    return network == null ? networkUnavailableReason : security.ucxRefusal();
  }

  /**
   * Sets the transports that are offered to the peer.
   *
   * @return what transport ucx says to it
   */
  ByteBuffer offerTo(PendingHandshake handshake) {
    int transports = available(handshake.local);
    byte[] ofNetwork =
        (transports & HandshakeMessage.UCX) == 0
            ? new byte[0]
            : network.offer(handshake.peer.peer.id());
    handshake.offered = ofNetwork.length == 0 ? transports & ~HandshakeMessage.UCX : transports;
    return ByteBuffer.wrap(ofNetwork);
  }

  /** Chooses among what both sides have, and makes what it takes; null if it has. */
  Rejection choose(PendingHandshake handshake) {
    HandshakeMessage.Hello hello = handshake.hello;
    handshake.offered = available(handshake.local);
    int common = handshake.offered & hello.transports();
    if (handshake.local && (common & HandshakeMessage.SHM) != 0) {
      return share(handshake, hello.offer());
    }
    handshake.reason = handshake.local ? "same host" : "accepted by TCP";
    if ((common & HandshakeMessage.UCX) != 0) {
      try {
        byte[] response =
            network.accept(
                handshake.peer.peer.id(), hello.incarnation(), incarnation, bytes(hello.network()));
        handshake.response = ByteBuffer.wrap(response);
        handshake.transport = HandshakeMessage.UCX;
        return null;
      } catch (IOException e) {
        handshake.reason += "; not by ucx: " + e.getMessage();
      }
    }
    if ((common & HandshakeMessage.TCP) == 0) {
      return new Rejection(
          HandshakeMessage.REJECT_OTHER, "there is no transport in common" + without(handshake));
    }
    handshake.transport = HandshakeMessage.TCP;
    return null;
  }

  private Rejection share(PendingHandshake handshake, Offer theirs) {
    int bytes = shmBytes(theirs);
    try {
      SharedFiles.Created<Mapping> made =
          files.create(
              ShmLayout.firstBytes(dataRingBytes(theirs), controlRingBytes(theirs)),
              (file, first) -> Mapping.map(file, bytes));
      handshake.transport = HandshakeMessage.SHM;
      handshake.file = made.id();
      handshake.mapping = made.mapping();
      ShmLayout.write(
          MemorySegment.ofBuffer(handshake.mapping.buffer()),
          dataRingBytes(theirs),
          controlRingBytes(theirs));
      return null;
    } catch (TransportException e) {
      return new Rejection(HandshakeMessage.REJECT_FULL, e.getMessage());
    }
  }

  /** The transports that this side has, and why one of them is not used; for people. */
  private String without(PendingHandshake handshake) {
    int at = handshake.reason.indexOf(';');
    return ": here "
        + (handshake.local ? "on this host" : "by TCP")
        + " are "
        + options.transports()
        + (at < 0 ? "" : handshake.reason.substring(at));
  }

  /**
   * Opens what the other side has chosen and made.
   *
   * @throws IOException if that is not what was offered, or cannot be opened
   */
  void open(PendingHandshake handshake, Welcome welcome) throws IOException {
    handshake.number = welcome.number();
    handshake.transport = welcome.transport();
    if (Integer.bitCount(handshake.transport) != 1
        || (handshake.transport & handshake.offered) == 0) {
      throw new IOException("transport " + handshake.transport + " was not offered");
    }
    if (handshake.transport == HandshakeMessage.UCX) {
      network.accepted(handshake.peer.peer.id(), welcome.incarnation(), bytes(welcome.network()));
    } else if (handshake.transport == HandshakeMessage.SHM) {
      try {
        handshake.mapping =
            files.open(welcome.file(), shmBytes(welcome.offer()), welcome.offer().pid());
      } catch (TransportException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  /** Makes the link of a connection; it owns the channel and the mapping from now on. */
  Link link(PendingHandshake handshake, Connection connection, Offer theirs) throws IOException {
    int[] capacity = {dataRingBytes(theirs), controlRingBytes(theirs)};
    if (handshake.transport == HandshakeMessage.SHM) {
      Link link =
          new ShmLink(
              connection, handshake.channel, handshake.mapping, !handshake.dialled(), capacity);
      files.remove(handshake.file); // the other side has mapped it, and taken its name away
      return link;
    }
    if (handshake.transport == HandshakeMessage.UCX) {
      return network.link(
          connection,
          handshake.peer.peer.id(),
          handshake.number,
          handshake.channel,
          handshake.reason,
          capacity);
    }
    return new TcpLink(
        connection,
        handshake.channel,
        handshake.bytes.wire(),
        handshake.bytes.rest(),
        whyTcp(handshake),
        capacity,
        capacity);
  }

  private String whyTcp(PendingHandshake handshake) {
    String why = handshake.reason;
    if (handshake.dialled() && (handshake.offered & HandshakeMessage.UCX) != 0) {
      why += "; not by ucx: the other side does not";
    }
    return security.encrypted() && !handshake.local ? why + ", encrypted" : why;
  }

  /** Releases what a handshake that came to nothing has made. */
  void release(PendingHandshake handshake) {
    if (handshake.mapping != null) {
      handshake.mapping.close();
      handshake.mapping = null;
      files.remove(handshake.file);
    }
  }

  /** Both sides use the smaller rings. */
  private int dataRingBytes(Offer other) {
    return Math.min(offer.dataRingBytes(), other.dataRingBytes());
  }

  private int controlRingBytes(Offer other) {
    return Math.min(offer.controlRingBytes(), other.controlRingBytes());
  }

  private int shmBytes(Offer other) {
    return ShmLayout.bytes(dataRingBytes(other), controlRingBytes(other));
  }

  private static byte[] bytes(ByteBuffer from) {
    byte[] bytes = new byte[from.remaining()];
    from.duplicate().get(bytes);
    return bytes;
  }
}
