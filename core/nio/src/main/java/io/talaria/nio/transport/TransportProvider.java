// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.nio.ByteBuffer;

/**
 * A way for bytes to reach a peer process that is faster than a TCP connection.
 *
 * <p>A transport knows nothing of sockets or selectors. The negotiation hands it {@linkplain Peer
 * peers}, asks it to {@linkplain #offer offer} and {@linkplain #answer answer} upgrades, and
 * carries its opaque payloads; channels and selectors then use the {@link TransportStream}s and
 * {@link ReadySet}s it gives out.
 *
 * <p><b>What a transport owes.</b> Bytes that {@link TransportStream#write} has accepted reach the
 * peer in order, once, also when the program never touches the stream again; where the transport
 * needs progress for that, it has a thread of last resort of its own. No call on the data path
 * blocks, allocates in steady state, or throws for what a peer did: a peer's misbehaviour ends that
 * peer's streams. Everything a peer wrote is checked before use. {@link TransportStream#readiness}
 * is the truth, and a thread that was told to wait by {@link TransportStream#watch} or {@link
 * TransportStream#await} is woken. What a stream has once said of its end, and whether it is
 * established, is final.
 *
 * <p><b>What a transport is owed.</b> {@link #openPeer}, {@link #acceptPeer}, {@link #offer},
 * {@link #answer}, {@link #received}, {@link #peerGone} and every {@link Upgrade} method are called
 * by the one negotiation thread, which may do file work and may block for a few milliseconds.
 * Program threads call only streams and ready sets: of a stream one reader and one writer at a
 * time, {@link TransportStream#switchOut} before the first write, {@link TransportStream#moveTo}
 * null before its ready set closes, and {@link TransportStream#release} last, when no thread is
 * inside.
 *
 * <p><b>A transport that needs progress</b>, as one over UCX does, makes it in {@link
 * ReadySet#progress}, and for what an inactive program left behind on its thread of last resort; it
 * guards what both touch. What its library would send from the caller's memory after {@code write}
 * has returned it copies first, and says in {@link TransportStream#flushed} when nothing is held
 * back. What has arrived it takes over from the library on progress, bounded by credits of its own,
 * because a library may drop unread bytes when a peer fails. Its event descriptor is what {@link
 * ReadySet#selectable} stands for, armed by {@link ReadySet#arm} until nothing more is to be
 * progressed.
 */
public interface TransportProvider {

  /** Short name as in {@code talaria.transports}, for example {@code shm}. */
  String name();

  /** What its connections are shown as. */
  NioTransport kind();

  /**
   * Whether it is still finding out whether it can be used: until then {@link #unavailable} waits.
   * Any thread.
   */
  default boolean starting() {
    return false;
  }

  /**
   * Says whether this transport can be used in this process.
   *
   * @return null if it can, else the reason, which names the hint
   */
  Reason unavailable();

  /** What {@link #unavailable} has found, for the log: words, perhaps none. */
  default String problem() {
    return "";
  }

  /**
   * Opens a ready set: the place where one selector finds its ready streams, and sleeps.
   *
   * @return a ready set owned by the caller, or null if the transport has no more
   */
  ReadySet openReadySet();

  /**
   * Whether a stream is bound to where it is made: then {@link #offer(Peer, ReadySet)} and {@link
   * #answer(Peer, ByteBuffer, ReadySet)} are called once the channel has a ready set, or seems not
   * to get one, which any thread may open.
   */
  default boolean placesStreams() {
    return false;
  }

  /**
   * Prepares what is shared with a new peer, on the side that dialled.
   *
   * @return the payload for {@link #acceptPeer} on the other side, at most {@link
   *     #MAX_PAYLOAD_BYTES}
   * @throws TransportException if the peer cannot be reached by this transport
   */
  ByteBuffer openPeer(Peer peer) throws TransportException;

  /**
   * Joins what the dialling side prepared.
   *
   * @param payload what {@link #openPeer} returned there, untrusted
   * @throws TransportException if the payload is malformed or cannot be used
   */
  void acceptPeer(Peer peer, ByteBuffer payload) throws TransportException;

  /** Tells the dialling side that the other side has accepted the peer. */
  void peerAccepted(Peer peer);

  /**
   * Starts an upgrade on the side that connected.
   *
   * @throws TransportException with the reason if this connection has to stay on TCP
   */
  Upgrade offer(Peer peer) throws TransportException;

  /**
   * As {@link #offer(Peer)}, for a channel whose selector has the ready set given, or null.
   *
   * @throws TransportException with the reason if this connection has to stay on TCP
   */
  default Upgrade offer(Peer peer, ReadySet readySet) throws TransportException {
    return offer(peer);
  }

  /**
   * Answers an upgrade on the side that accepted.
   *
   * @param payload what {@link Upgrade#payload} gave on the other side, untrusted
   * @throws TransportException with the reason if this connection has to stay on TCP
   */
  Upgrade answer(Peer peer, ByteBuffer payload) throws TransportException;

  /**
   * As {@link #answer(Peer, ByteBuffer)}, for a channel whose selector has the ready set given, or
   * null.
   *
   * @throws TransportException with the reason if this connection has to stay on TCP
   */
  default Upgrade answer(Peer peer, ByteBuffer payload, ReadySet readySet)
      throws TransportException {
    return answer(peer, payload);
  }

  /**
   * Handles a message that the transport's other half sent with {@link Peer#send}.
   *
   * @throws TransportException if it is malformed; the peer is then dropped
   */
  void received(Peer peer, ByteBuffer message) throws TransportException;

  /**
   * Tells that the peer process has ended or broken the rules. Its streams keep what was received
   * and then end as a killed peer's sockets would.
   */
  void peerGone(Peer peer);

  /**
   * Removes what processes that have ended have left of it where others see it. Called by the
   * negotiation thread some time after sessions have ended, however many, of whatever transport.
   */
  default void sweep() {
    // Most leave nothing.
  }

  /**
   * Ends with the process: takes back what others can see of it, makes no more of it, and sees to
   * what is still to be sent. Called by the shutdown hook, once, for a short time.
   */
  void exit();

  /**
   * A thread has got an {@link InternalError}: finds the streams whose memory is gone and fails
   * them, as {@code Faults} says. Negotiation thread.
   *
   * @return whether the memory of any stream is gone, since now or before
   */
  default boolean examine() {
    return false;
  }

  /**
   * Whether {@link #rest} is to be called about once a second. Negotiation thread, which asks in
   * each of its turns.
   */
  default boolean mayRest() {
    return false;
  }

  /** Gives back what streams hold that nothing has been sent over for a while. */
  default void rest() {}

  /** Whether it needs no network, so that it reaches other network namespaces of this host. */
  default boolean joinsNamespaces() {
    return false;
  }

  /** The longest payload of an offer, in bytes: a longer one is malformed. */
  default int maxOfferBytes() {
    return MAX_PAYLOAD_BYTES;
  }

  /** Limit of a payload or message, in bytes. */
  int MAX_PAYLOAD_BYTES = 1024;
}
