// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.time.Duration;

/**
 * Sends to one node, which may be this node itself. Valid as long as its {@link Node}. A peer
 * exists without a connection; the first send connects. All methods may be called by any thread,
 * virtual ones too.
 *
 * <p>Messages of one thread to one node and receiver arrive in order, each at most once. Responses
 * may overtake messages. A slow receiver on handler threads delays only those that send to it, not
 * those that send to other receivers of its node; see {@link Dispatch}.
 */
public interface Peer {
  /**
   * Result of {@link #trySend}: there is no room, because the other node or its receiver of this
   * type is too slow at the moment.
   */
  long BACK_PRESSURED = -1;

  /** Result of {@link #trySend}: there is no connection yet; the node is connecting. */
  long CONNECTING = -2;

  /** Result of {@link #trySend}: the connection has just ended; the next call connects again. */
  long LOST = -3;

  /** Result of {@link #trySend}: this node is closed. */
  long CLOSED = -4;

  /**
   * Result of {@link #trySend}: the message is too large for one slice; {@link #send} can send it.
   */
  long TOO_LARGE = -5;

  /** The node's id, 0 to 65,534. */
  int id();

  /**
   * Sends a message. When this returns, the message is on its way, and the caller may change the
   * object. Waits for a connection and for room, at most {@link NodeOptions#sendTimeout}.
   *
   * @return a position for {@link #awaitDelivered}, positive
   * @throws MessagingException UNREACHABLE, REFUSED, BACK_PRESSURED, TOO_LARGE, CLOSED or CANCELLED
   * @throws IllegalArgumentException if the type is not registered
   * @throws NullPointerException if the message is null, or a component without {@link
   *     OptionalField} is null
   * @throws IllegalStateException inside an INLINE receiver or a codec
   */
  long send(Object message) throws MessagingException;

  /**
   * Sends a message if that is possible at once. Never waits, allocates nothing.
   *
   * @return a position, positive; or {@link #BACK_PRESSURED}, {@link #CONNECTING}, {@link #LOST},
   *     {@link #CLOSED} or {@link #TOO_LARGE}
   * @throws IllegalArgumentException if the type is not registered
   */
  long trySend(Object message);

  /**
   * Waits until a message, and all before it on its connection, were handed to the receiver's code
   * at the other end, or dropped there.
   *
   * @param position the result of a send
   * @param timeout how long to wait
   * @return false if the timeout has passed
   * @throws MessagingException LOST if the connection of the position has ended before the delivery
   *     was known
   */
  boolean awaitDelivered(long position, Duration timeout) throws MessagingException;

  /**
   * Sends a request and waits for the response. Waits for room as {@link #send} does, but for a
   * connection until the timeout, unless it is known why there is none.
   *
   * @param timeout of the whole request
   * @throws MessagingException with the reason if there is no response
   * @throws IllegalStateException inside an INLINE receiver or a codec
   */
  <A> A request(Object request, Class<A> response, Duration timeout) throws MessagingException;

  /**
   * Like {@link #request}, without a {@code Duration}, for callers that count nanoseconds.
   *
   * @param timeoutNs of the whole request, in nanoseconds
   */
  <A> A requestNs(Object request, Class<A> response, long timeoutNs) throws MessagingException;

  /**
   * Sends a request without waiting for the response. Waits for room as {@link #send} does.
   *
   * @param timeout of the whole request; when it has passed, the request ends with TIMED_OUT
   */
  <A> ResponseFuture<A> requestAsync(Object request, Class<A> response, Duration timeout)
      throws MessagingException;

  /** Whether there is a connection now. */
  boolean connected();

  /**
   * The transport of the connection: {@code loop}, {@code shm}, {@code verbs}, {@code ucx} or
   * {@code tcp}; null without a connection.
   */
  String transport();

  /** Why the connection uses its transport, or why there is no connection; a text for people. */
  String reason();

  /**
   * The number of bytes that can be sent without waiting; 0 without a connection. It does not
   * consider slow receivers: {@link #trySend} may return {@link #BACK_PRESSURED} for one at any
   * time.
   */
  long freeBytes();
}
