// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.handshake.HandshakeMessage.Offer;
import io.talaria.messaging.handshake.HandshakeMessage.Welcome;
import io.talaria.messaging.node.Network;
import io.talaria.messaging.node.Networks;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.ShmLayout;
import io.talaria.messaging.transport.ShmLink;
import io.talaria.messaging.transport.TcpLink;
import io.talaria.messaging.types.TypeEntry;
import io.talaria.messaging.types.Types;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.process.Host;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which transport a connection uses, and what it takes to set it up. Conductor's thread.
 *
 * <p>The side that dials offers transports; the side that accepts chooses: {@code shm} on one host,
 * else {@code verbs}, else {@code ucx}, else {@code tcp}.
 */
final class TransportChoice {
  /** Why a handshake is rejected. */
  record Rejection(byte code, String text) {}

  private final NodeOptions options;
  private final NodeSecurity security;
  private final long incarnation;
  private final Offer offer;
  private final SharedFiles files;

  private final Networks networks;

  TransportChoice(
      NodeOptions options,
      Networks networks,
      Types types,
      NodeSecurity security,
      long incarnation) {
    this.options = options;
    this.networks = networks;
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
    return options.transports().contains(Transport.SHM) || networks.anyOpen();
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
    if (local || security.networkRefusal() == null) {
      for (Network each : networks.all()) {
        transports |= each.isOpen() ? each.bit() : 0;
      }
    }
    return transports;
  }

  /** Why network transports that are open are not used between hosts; for people. */
  String networkRefusals() {
    return networks.all().stream()
        .filter(Network::isOpen)
        .map(each -> each.name() + " is for this host alone: " + security.networkRefusal())
        .collect(Collectors.joining(", "));
  }

  /** Sets the transports that are offered to the peer, and what network transports tell it. */
  void offerTo(PendingHandshake handshake) {
    handshake.offered = available(handshake.local);
    for (Network each : networks.all()) {
      if ((handshake.offered & each.bit()) == 0) {
        continue;
      }
      byte[] offers = {};
      try {
        offers = each.transport().offer(handshake.peer.peer.id());
      } catch (IOException e) {
        handshake.reason += notBy(each, e.getMessage());
      }
      if (offers.length == 0) {
        handshake.offered &= ~each.bit();
      } else {
        handshake.offer(each.bit(), offers);
      }
    }
  }

  private static String notBy(Network network, String why) {
    return "; not by " + network.name() + ": " + why;
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
    for (Network each : networks.all()) {
      if ((common & each.bit()) == 0) {
        continue;
      }
      ByteBuffer offers = each.bit() == HandshakeMessage.VERBS ? hello.verbs() : hello.ucx();
      try {
        byte[] response =
            each.transport()
                .accept(handshake.peer.peer.id(), hello.incarnation(), incarnation, bytes(offers));
        handshake.offer(each.bit(), response);
        handshake.transport = each.bit();
        return null;
      } catch (IOException e) {
        handshake.reason += notBy(each, e.getMessage());
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
    for (int each : handshake.offering()) {
      if (each != handshake.transport) {
        releaseOffer(handshake, each);
      }
    }
    Network network = networks.of(handshake.transport);
    if (network != null) {
      network
          .transport()
          .accepted(
              handshake.peer.peer.id(),
              welcome.incarnation(),
              handshake.offer(network.bit()),
              bytes(welcome.network()));
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
    Network network = networks.of(handshake.transport);
    if (network != null) {
      Link link =
          network
              .transport()
              .link(
                  connection,
                  handshake.peer.peer.id(),
                  handshake.number,
                  handshake.offer(network.bit()),
                  handshake.channel,
                  why(handshake),
                  capacity);
      handshake.offerEnds(network.bit()); // it is the link's
      return link;
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

  /** Why the connection uses its transport, and why not one that would come before. */
  private String why(PendingHandshake handshake) {
    StringBuilder why = new StringBuilder(handshake.reason);
    for (Network each : networks.all()) {
      if (each.bit() == handshake.transport) {
        break;
      }
      if (handshake.dialled() && (handshake.offered & each.bit()) != 0) {
        why.append(notBy(each, "the other side does not"));
      }
    }
    return why.toString();
  }

  private String whyTcp(PendingHandshake handshake) {
    String why = why(handshake);
    return security.encrypted() && !handshake.local ? why + ", encrypted" : why;
  }

  /** Releases what a handshake that came to nothing has made. */
  void release(PendingHandshake handshake) {
    for (int each : handshake.offering()) {
      releaseOffer(handshake, each);
    }
    if (handshake.mapping != null) {
      handshake.mapping.close();
      handshake.mapping = null;
      files.remove(handshake.file);
    }
  }

  private void releaseOffer(PendingHandshake handshake, int bit) {
    networks.of(bit).transport().release(handshake.offer(bit));
    handshake.offerEnds(bit);
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
