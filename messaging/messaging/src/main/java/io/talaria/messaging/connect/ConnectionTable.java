// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.handshake.HandshakeMessage.Forms;
import io.talaria.messaging.handshake.HandshakeMessage.Offer;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.node.RemotePeer;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.transport.Link;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The connections of a node, from the end of the handshake until no thread uses their memory:
 * starts them, watches whether their peers live, and when there are too many asks the one that was
 * idle for longest to leave. Conductor's thread, except where it is said.
 */
final class ConnectionTable {
  private static final long PING_NS = 2_000_000_000L;

  /** A peer of which nothing was heard for longer is suspect. */
  static final long SUSPECT_NS = 5_000_000_000L;

  private static final long GIVE_UP_NS = 30_000_000_000L;

  /** For which a peer may think about GOODBYE. */
  private static final long LEAVE_NS = 1_000_000_000L;

  /** Both have agreed, but what was on its way may wait: a message for a handler, or a response. */
  private static final long PART_NS = 5_000_000_000L;

  private static final long LOOK_NS = 10_000_000L;

  /**
   * So many times a closed connection is looked at before its memory is unmapped, so that no thread
   * is still in an access which began before. Counted in looks, because a process that is stopped
   * and continued finds much time passed in which none of its threads has run.
   */
  private static final int LOOKS_BEFORE_UNMAP = 10;

  /** After so many it is unmapped even if a thread has a claim, or receives responses. */
  private static final int MAX_LOOKS = 200;

  private static final class Life {
    final Liveness liveness = new Liveness(System.nanoTime());
    long usedNs = System.nanoTime();
    long activity;
    boolean suspect;

    /** How many times this end has asked to close it without an answer. */
    int asked;

    /** Whether both ends have agreed: no more messages and requests. */
    boolean left;

    boolean finished;
    long leaveNs;
  }

  private final LocalNode node;
  private final NodeOptions options;
  private final Timers timers;
  private final PeerStates peers;
  private final Map<Connection, Life> connections = new ConcurrentHashMap<>();

  /** Those whose memory is still mapped. */
  private final Set<Connection> closed = new HashSet<>();

  ConnectionTable(LocalNode node, Timers timers, PeerStates peers) {
    this.node = node;
    this.timers = timers;
    this.peers = peers;
    options = node.options();
  }

  /** How many there are. Any thread. */
  int size() {
    return connections.size();
  }

  /** A copy. Any thread. */
  List<Connection> copy() {
    return List.copyOf(connections.keySet());
  }

  /** A view. Any thread. */
  Set<Connection> all() {
    return connections.keySet();
  }

  /** For how long nothing was heard of a peer, in nanoseconds. */
  long silentNs(Connection connection) {
    Life life = connections.get(connection);
    return life == null ? 0 : life.liveness.ns();
  }

  /**
   * Makes a connection, which {@link #start} begins.
   *
   * @param incarnation of the other process
   */
  Connection create(PeerState peer, int number, long incarnation, Offer theirs, Forms forms) {
    PeerTypes types = PeerTypes.of(node.types(), theirs, forms);
    return new Connection(
        node,
        peer.peer,
        number,
        incarnation,
        types.entries,
        types.names,
        types.mismatches,
        theirs.maxMessageBytes());
  }

  /** Hands a connection to the poller and to those who wait for it. */
  void start(Connection connection, Link link, PeerState state) {
    connection.runOn(link);
    RemotePeer peer = state.peer;
    Connection before = peer.connection();
    connection.receiver().predecessor = before == null ? state.severed : before;
    state.wanted = false;
    state.toldUnreachable = false;
    state.backoffNs = PeerState.FIRST_RETRY_NS;
    state.retryNs = System.nanoTime();
    connections.put(connection, new Life());
    node.events().connected(connection); // before anything can be received on it
    node.poller()
        .execute(
            () -> {
              if (connection.dead()) {
                return; // a link that receives at once may fail before; ended() does the rest
              }
              try {
                node.poller().add(connection);
              } catch (Throwable e) { // without memory it ends before it was used
                connection.failed("an error of this node: " + Thrown.text(e));
                throw e;
              }
              peer.connection(connection);
              peer.requested.set(false);
            });
    if (link.session() != null) {
      makeRoom();
    }
  }

  /**
   * Its other end has ended, but messages that have arrived wait for receivers: another connection
   * to the node may be made, whose messages wait for this one to end.
   */
  void severed(Connection connection) {
    PeerState state = peers.of(connection.peer.id());
    state.pairing.ended(connection.number);
    if (state.peer.connection() == connection) {
      state.severed = connection;
      state.peer.connection(null);
    }
    peers.wantedNoMore(state);
  }

  /** The poller has taken it out. */
  void ended(Connection connection) {
    PeerState state = peers.of(connection.peer.id());
    state.pairing.ended(connection.number);
    if (state.peer.connection() == connection) {
      state.peer.connection(null);
    }
    if (state.severed == connection) {
      state.severed = null;
    }
    peers.wantedNoMore(state); // it may have been wanted when it was about to be there
    close(connection);
    unmapLater(connection, 1);
  }

  private void close(Connection connection) {
    connections.remove(connection);
    closed.add(connection);
    connection.link().close();
  }

  private void unmapLater(Connection connection, int look) {
    timers.at(
        System.nanoTime() + LOOK_NS,
        () -> {
          if (!unmapped(connection, look)) {
            unmapLater(connection, look + 1);
          }
        });
  }

  /** Whether its memory is unmapped: if no thread has a claim there, or receives responses. */
  private boolean unmapped(Connection connection, int look) {
    boolean unused =
        look >= LOOKS_BEFORE_UNMAP && connection.sender().quiet() && connection.leading().tryLock();
    if (!unused && look < MAX_LOOKS) {
      return false;
    }
    closed.remove(connection);
    connection.link().unmap();
    return true;
  }

  // ---- who leaves when there are too many

  /** If there are too many, asks the one that was idle for longest to leave. */
  void makeRoom() {
    int count = 0;
    Connection longest = null;
    long since = Long.MAX_VALUE;
    for (Map.Entry<Connection, Life> each : connections.entrySet()) {
      Connection connection = each.getKey();
      if (connection.link().session() == null
          || connection.dead()
          || connection.sendingEnded()
          || connection.closing().leaving) {
        continue;
      }
      count++;
      if (each.getValue().usedNs < since && idle(connection)) {
        since = each.getValue().usedNs;
        longest = connection;
      }
    }
    if (count > options.maxConnections() && longest != null) {
      longest.closing().leaving = true;
      Life life = connections.get(longest);
      life.asked++;
      life.leaveNs = System.nanoTime() + LEAVE_NS;
      longest.control(Records.GOODBYE, 0, 0);
      Connection asked = longest;
      timers.at(life.leaveNs, () -> noResponse(asked, life));
    }
  }

  private boolean idle(Connection connection) {
    return connection.idle() && !node.responseSlots().any(connection);
  }

  /** A peer that does not answer GOODBYE keeps its connection. */
  private void noResponse(Connection connection, Life life) {
    if (!life.left) {
      connection.closing().leaving = false;
      node.poller().wake();
    }
  }

  /**
   * GOODBYE or STAY came. An end that has asked leaves whenever the other one agrees, however late
   * that comes: the other one sends no more messages on this connection.
   */
  void heard(Connection connection, byte kind) {
    Life life = connections.get(connection);
    if (life == null || connection.dead() || life.left) {
      return;
    }
    if (kind == Records.STAY) {
      connection.closing().leaving = false;
      life.asked--;
      life.usedNs = System.nanoTime();
    } else if (connection.closing().leaving
        || (life.asked > 0 && connection.closing().agreedThere())
        || idle(connection)) {
      leave(connection, life);
    } else {
      connection.control(Records.STAY, 0, 0);
    }
  }

  private void leave(Connection connection, Life life) {
    life.left = true;
    connection.closing().leaving = true;
    connection.closing().sealMessages();
    life.leaveNs = System.nanoTime() + PART_NS;
    leaveWhenDrained(connection, life);
  }

  private void leaveWhenDrained(Connection connection, Life life) {
    if (connection.dead()) {
      return;
    }
    if (System.nanoTime() - life.leaveNs > 0) {
      life.leaveNs = System.nanoTime() + PART_NS; // until what has arrived here was delivered
      node.poller().partSoon(connection, "idle, and the limit of connections was reached");
    }
    if (!life.finished && !node.responseSlots().any(connection)) {
      connection.closing().tellEnd();
      if (connection.closing().parted()) {
        life.finished = true;
        connection.sender().seal(); // not before: requests that came meanwhile have a response
        connection.link().finishOutput(); // the other side does the same, and both find the end
      }
    }
    node.poller().wake();
    timers.at(System.nanoTime() + 1_000_000, () -> leaveWhenDrained(connection, life));
  }

  // ---- whether peers live

  /** Looks at each connection, now and then. */
  void watch() {
    long now = System.nanoTime();
    for (Map.Entry<Connection, Life> each : connections.entrySet()) {
      Connection connection = each.getKey();
      if (connection.link().session() != null && !connection.dead()) {
        watch(connection, each.getValue(), now);
      }
    }
  }

  private void watch(Connection connection, Life life, long now) {
    long activity = connection.activity();
    if (activity != life.activity) {
      life.activity = activity;
      life.usedNs = now;
    }
    boolean heard = connection.receiver().heard;
    long silent = life.liveness.look(heard, now);
    if (heard) {
      connection.receiver().heard = false;
      life.suspect = false;
      return;
    }
    if (!node.looksAfterPeers()) {
      return;
    }
    if (silent > GIVE_UP_NS) {
      node.events().quiet(connection, silent);
      node.poller()
          .dropSoon(connection, "nothing was heard of it for " + silent / 1_000_000_000 + " s");
    } else if (silent > SUSPECT_NS && !life.suspect && !connection.sendingEnded()) {
      life.suspect = true;
      node.events().quiet(connection, silent);
      node.events().suspect(connection.peer, silent);
    }
    if (silent > PING_NS) {
      connection.control(Records.PING, 0, 0);
    }
  }

  /** Ends all, after the poller has ended. */
  void closeAll() {
    for (Connection each : connections.keySet()) {
      if (!each.dead()) {
        each.end("this node was closed");
      }
      close(each);
    }
  }

  /**
   * Unmaps the memory of all, when no timer runs any more; takes at least 0.1 s if there is any.
   */
  void unmapAll() {
    for (int i = 1; !closed.isEmpty(); i++) {
      int look = i;
      LockSupport.parkNanos(LOOK_NS);
      for (Connection each : List.copyOf(closed)) {
        boolean ignored = unmapped(each, look);
      }
    }
  }
}
