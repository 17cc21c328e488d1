// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.process.Descriptors;
import io.talaria.nio.process.TcpSockets;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The client's half of the proof that a connection between two network namespaces ends where its
 * addresses say, for a {@link Session} that this side has dialled. A probe sends random bytes by
 * datagram from the connection's own address to the server's, and the peer, which has been told
 * them over the session, answers with random bytes of its own. What comes back shows that what this
 * namespace sends to that address reaches the peer's namespace, and the reverse, untranslated;
 * {@link SegmentEnd}, {@link TcpSockets} and the time to live of the connection's own packets show
 * the rest. The argument is in docs/threat-model.md.
 *
 * <p>One probe serves all connections between two addresses that stand when it begins. Negotiation
 * thread.
 */
final class SegmentProbes {
  /** A segment loses datagrams seldom, and its peer is on this machine. */
  private static final long LIMIT_NS = 2_000_000_000L;

  private static final long SEND_AGAIN_NS = 50_000_000L;

  /** Connections that come meanwhile share the next probe. */
  private static final long PAUSE_NS = 20_000_000L;

  private static final String NOT_MARKED =
      "the time to live of its packets cannot be set: use the agent, or see docs/configuration.md";

  private final Negotiator negotiator;
  private final Session session;
  private final Map<Addresses, Probe> probes = new HashMap<>();
  private int lastId;

  private record Addresses(InetAddress client, InetAddress server) {}

  SegmentProbes(Negotiator negotiator, Session session) {
    this.negotiator = negotiator;
    this.session = session;
  }

  /** Offers the upgrade once it is proved where the connection ends, or refuses it. */
  void prove(UpgradeAttempt attempt) {
    ConnectionKey key = attempt.channel().key();
    if (attempt.channel().ttl() == 0) {
      negotiator.reports().detail(Reason.NOT_DIRECT, key + ": " + NOT_MARKED);
      attempt.refused(Reason.NOT_DIRECT);
      return;
    }
    Addresses between = new Addresses(key.client().getAddress(), key.server().getAddress());
    Probe probe = probes.get(between);
    if (probe == null) {
      probe = new Probe(between);
      probes.put(between, probe);
      probe.later.add(attempt);
      probe.begin();
    } else {
      probe.later.add(attempt);
    }
  }

  /** How many attempts wait for a proof. */
  int waiting() {
    int waiting = 0;
    for (Probe probe : probes.values()) {
      waiting += probe.now.size() + probe.later.size();
    }
    return waiting;
  }

  /** The peer listens for the datagrams of a probe, or does not if the port is 0. */
  void listens(int id, int port) throws MalformedFrameException {
    for (Probe probe : probes.values()) {
      if (probe.id == id && probe.channel != null && !probe.sending) {
        probe.listens(port);
        return;
      }
    }
    if (id > lastId || id <= 0) {
      throw new MalformedFrameException("an answer to probe " + id + ", which was not made");
    } // else it has taken too long
  }

  /** The session has ended. */
  List<UpgradeAttempt> close() {
    List<UpgradeAttempt> left = new ArrayList<>();
    for (Probe probe : probes.values()) {
      probe.end();
      left.addAll(probe.now);
      left.addAll(probe.later);
    }
    probes.clear();
    return left;
  }

  /** Probes between two addresses, one after the other while connections come. */
  private final class Probe implements NegotiationLoop.Ready {
    private final Addresses between;

    /** Those that the present probe is for. */
    private List<UpgradeAttempt> now = List.of();

    /** Those that the next is for. */
    private List<UpgradeAttempt> later = new ArrayList<>();

    private int id;
    private Nonce nonce;
    private DatagramChannel channel;
    private boolean sending;
    private long begunAtNs;
    private long sentAtNs;

    Probe(Addresses between) {
      this.between = between;
    }

    void begin() {
      now = later;
      later = new ArrayList<>();
      id = ++lastId;
      nonce = Nonce.random();
      sending = false;
      begunAtNs = System.nanoTime();
      NegotiationLoop loop = negotiator.loop();
      int service = now.get(0).channel().key().server().getPort();
      try {
        channel = loop.jdk().openDatagramChannel(StandardProtocolFamily.INET);
        channel.configureBlocking(false);
        channel.bind(new InetSocketAddress(between.client, 0));
        channel.register(loop.selector(), SelectionKey.OP_READ, this);
        session.write(
            Wire.probe(
                id,
                new ConnectionKey(
                    (InetSocketAddress) channel.getLocalAddress(),
                    new InetSocketAddress(between.server, service)),
                nonce));
      } catch (IOException | RuntimeException e) {
        boolean none = Descriptors.ranOut(e);
        refuse(none ? Reason.LIMIT : Reason.NOT_DIRECT, "no datagram can be sent: " + e);
        return;
      }
      int running = id;
      loop.repeat(() -> running != id || tick(), () -> refuse(Reason.INTERNAL, "an error"));
    }

    void listens(int port) {
      if (port == 0) {
        refuse(Reason.NOT_DIRECT, "the peer does not have the address");
        return;
      }
      try {
        channel.connect(new InetSocketAddress(between.server, port));
        sending = true;
        send();
      } catch (IOException | RuntimeException e) {
        refuse(Reason.NOT_DIRECT, "the address cannot be reached: " + e);
      }
    }

    private void send() throws IOException {
      sentAtNs = System.nanoTime();
      channel.write(nonce.bytes());
    }

    /** Looks at the time; true once the probe is over. */
    private boolean tick() {
      if (channel == null) {
        return true;
      }
      long time = System.nanoTime();
      if (time - begunAtNs > LIMIT_NS) {
        refuse(Reason.NOT_DIRECT, "no datagram comes back from the address");
      } else if (sending && time - sentAtNs > SEND_AGAIN_NS) {
        try {
          send();
        } catch (IOException e) {
          refuse(Reason.NOT_DIRECT, "the address cannot be reached: " + e);
        }
      }
      return channel == null;
    }

    @Override
    public void ready() {
      if (channel == null) {
        return;
      }
      ByteBuffer answer = ByteBuffer.allocate(Nonce.BYTES + 1);
      try {
        if (sending && channel.read(answer) == Nonce.BYTES) {
          answered(answer.flip());
        } else if (!sending) {
          channel.receive(answer); // a stranger's
        }
      } catch (IOException e) {
        refuse(Reason.NOT_DIRECT, "the address cannot be reached: " + e);
      }
    }

    @Override
    public void failed() {
      refuse(Reason.INTERNAL, "an error");
    }

    private void answered(ByteBuffer bytes) {
      Nonce answer = Nonce.read(bytes);
      int proved = id;
      List<UpgradeAttempt> attempts = over();
      SegmentEnd end;
      TcpSockets sockets;
      try {
        end = SegmentEnd.look(between.client, between.server);
        sockets = TcpSockets.read();
      } catch (TransportException e) {
        refuse(attempts, e.reason(), e.detail());
        return;
      } catch (IOException e) {
        refuse(attempts, Reason.NOT_DIRECT, "the sockets cannot be read: " + e);
        return;
      }
      for (UpgradeAttempt attempt : attempts) {
        ConnectionKey key = attempt.channel().key();
        if (sockets.haveClientAlone(key.client(), key.server())) {
          SegmentProof proof = new SegmentProof(proved, answer, end, attempt.channel().ttl());
          negotiator
              .loop()
              .runGuarded(
                  "an upgrade",
                  () -> session.offerProved(attempt, proof),
                  () -> attempt.failed(Reason.INTERNAL));
        } else {
          refuse(List.of(attempt), Reason.NOT_DIRECT, "it is translated in this namespace");
        }
      }
    }

    private void refuse(Reason reason, String why) {
      refuse(over(), reason, why);
    }

    private void refuse(List<UpgradeAttempt> attempts, Reason reason, String why) {
      if (!attempts.isEmpty()) {
        negotiator.reports().detail(reason, between + ": " + why);
      }
      for (UpgradeAttempt attempt : attempts) {
        attempt.refused(reason);
      }
    }

    /** Ends this probe and has the next begin if there are connections for it. */
    private List<UpgradeAttempt> over() {
      List<UpgradeAttempt> attempts = now;
      now = List.of();
      end();
      long begun = begunAtNs;
      negotiator.loop().repeat(() -> next(begun), () -> {});
      return attempts;
    }

    private boolean next(long begun) {
      if (session.closed() || begun != begunAtNs || channel != null) {
        return true;
      }
      if (later.isEmpty()) {
        probes.remove(between, this);
        return true;
      }
      boolean due = System.nanoTime() - begun > PAUSE_NS;
      if (due) {
        begin();
      }
      return due;
    }

    private void end() {
      if (channel != null) {
        try {
          channel.close();
        } catch (IOException e) {
          // It is closed as far as it can be.
        }
        channel = null;
      }
    }
  }
}
