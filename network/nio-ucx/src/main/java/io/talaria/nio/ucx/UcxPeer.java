// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.Log;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.TransportException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** The streams shared with one peer process. Negotiation thread, except {@link #send}. */
final class UcxPeer {
  private static final String TCP = "tcp";

  private final Peer session;
  private final Map<Long, UcxStream> streams = new HashMap<>();
  private final boolean takesTcp;
  private boolean byTcpOnly;
  private final AtomicBoolean complained = new AtomicBoolean();
  private final AtomicBoolean foundUnreachable = new AtomicBoolean();
  private volatile boolean gone;

  /** What carries its streams, once one has found out. */
  private volatile String detail = "";

  /**
   * @param takesTcp whether a way that is all TCP is good enough
   */
  UcxPeer(Peer session, boolean takesTcp) {
    this.session = session;
    this.takesTcp = takesTcp;
  }

  /** Whether it is on another host. Any thread. */
  boolean betweenHosts() {
    return session.betweenHosts();
  }

  /** Whether a stream to it has turned out to go by TCP, which gains nothing. */
  boolean byTcpOnly() {
    return byTcpOnly;
  }

  /**
   * Takes note of how a stream to it goes.
   *
   * @param transports those in use, with their devices; or those that may be
   * @param known whether they are in use
   */
  void goesBy(List<String> transports, boolean known) {
    if (session.betweenHosts() && !takesTcp) {
      byTcpOnly =
          known
              ? !transports.isEmpty() && transports.stream().allMatch(each -> each.startsWith(TCP))
              : transports.isEmpty() || transports.stream().anyMatch(UcxPeer::mayBeTcp);
    }
  }

  private static boolean mayBeTcp(String transport) {
    return transport.startsWith(TCP) || transport.startsWith("^") || transport.startsWith("all");
  }

  /** Any thread. */
  String detail() {
    return detail;
  }

  /** Any thread. */
  void detail(String found) {
    detail = found;
  }

  void add(UcxStream stream) {
    streams.put(stream.token(), stream);
  }

  /** Any thread. */
  void forget(UcxStream stream) {
    session.execute(() -> streams.remove(stream.token(), stream));
  }

  /** Any thread. */
  void send(ByteBuffer message) {
    if (!gone) {
      session.send(message);
    }
  }

  /** As {@link #send}, by the negotiation thread, soon. Any thread. */
  void sendLater(ByteBuffer message) {
    session.execute(() -> send(message));
  }

  /** The peer's process, as it says itself. */
  long process() {
    return session.pid();
  }

  /** Whether its process may be there still, as far as this host knows. Any thread. */
  boolean mayLive() {
    return betweenHosts() || ProcessHandle.of(process()).isPresent();
  }

  /** Says once what it did that no honest peer does. Any thread. */
  void complain(String what) {
    complain(what, null);
  }

  /**
   * As {@link #complain(String)}.
   *
   * @param cause what was thrown, or null
   */
  void complain(String what, Throwable cause) {
    sayOnce(complained, what, cause);
  }

  /** Says once why connections with it stay on TCP. Any thread. */
  void unreachable(String why) {
    sayOnce(foundUnreachable, "connections stay on TCP: " + why, null);
  }

  private void sayOnce(AtomicBoolean said, String what, Throwable cause) {
    if (said.compareAndSet(false, true)) {
      session.execute(() -> Log.warning("UCX peer, process " + session.pid() + ": " + what, cause));
    }
  }

  /** Whether both are sessions with one process. */
  boolean sameProcess(UcxPeer other) {
    return other == this || other.session.pid() == session.pid();
  }

  /** Whether the peer process has ended, or its session has. Any thread. */
  boolean gone() {
    return gone;
  }

  void received(ByteBuffer message) throws TransportException {
    int length = message.remaining();
    if (length < 1 + Long.BYTES) {
      throw new TransportException(Reason.PROTOCOL, "a message of " + length + " bytes");
    }
    byte type = message.get();
    UcxStream stream = streams.get(message.getLong());
    boolean withWindow = type == UcxMessages.ACCEPT || type == UcxMessages.ESTABLISHED;
    if (type < UcxMessages.ACCEPT
        || type > UcxMessages.RELEASED
        || message.remaining() != (withWindow ? Integer.BYTES : 0)) {
      throw new TransportException(Reason.PROTOCOL, "message " + type + " of " + length + " bytes");
    }
    int window = withWindow ? message.getInt() : 0;
    if (withWindow && window < 1) {
      throw new TransportException(Reason.PROTOCOL, "a window of " + window + " bytes");
    }
    if (stream == null) {
      return; // it is over here
    }
    switch (type) {
      case UcxMessages.ACCEPT -> stream.agreement().peerAccepted(window);
      case UcxMessages.ESTABLISHED -> stream.agreement().peerEstablished(window);
      case UcxMessages.WITHDRAWN -> stream.agreement().peerWithdrew();
      case UcxMessages.IN_SWITCHED -> stream.peerTookTcp();
      default -> stream.peerReleased();
    }
  }

  void ended() {
    gone = true;
    for (UcxStream stream : List.copyOf(streams.values())) {
      stream.peerGone();
    }
    streams.clear();
  }
}
