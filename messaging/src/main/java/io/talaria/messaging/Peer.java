// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.time.Duration;

/**
 * A node to send to, this one included. Valid as long as its {@link Node}; having one connects to
 * nobody. Any thread, virtual ones too.
 *
 * <p>Messages of one thread to one node and receiver arrive in order, each at most once. Responses
 * may overtake messages. A receiver on handlers that is slow pushes back who sends to it, not who
 * sends to other receivers of the node; see {@link Dispatch}.
 */
public interface Peer {
  /**
   * Of {@link #trySend}: the node, or the receiver of this type there, has to take something first.
   */
  long BACK_PRESSURED = -1;

  /** Of {@link #trySend}: there is no connection yet; one is being made. */
  long CONNECTING = -2;

  /** Of {@link #trySend}: the connection has just ended; the next call connects again. */
  long LOST = -3;

  /** Of {@link #trySend}: this node is closed. */
  long CLOSED = -4;

  /** Of {@link #trySend}: too large for one slice, which {@link #send} can do. */
  long TOO_LARGE = -5;

  /** Its number, 0 to 65,534. */
  int id();

  /**
   * Sends a message: when this returns, it is on its way and the object is the caller's again.
   * Waits for a connection or for room, at most as long as {@link NodeOptions#sendTimeout} says.
   *
   * @return a position for {@link #awaitDelivered}, positive
   * @throws MessagingException UNREACHABLE, REFUSED, BACK_PRESSURED, TOO_LARGE, CLOSED or CANCELLED
   * @throws IllegalArgumentException if the type is not registered
   * @throws NullPointerException if the message or a component not declared {@link OptionalField}
   *     is null
   * @throws IllegalStateException inside an INLINE receiver or a codec
   */
  long send(Object message) throws MessagingException;

  /**
   * Sends a message if that is possible at once; allocates nothing, never waits.
   *
   * @return a position, positive; or {@link #BACK_PRESSURED}, {@link #CONNECTING}, {@link #LOST},
   *     {@link #CLOSED} or {@link #TOO_LARGE}
   * @throws IllegalArgumentException if the type is not registered
   */
  long trySend(Object message);

  /**
   * Waits until a message, and all before it on its connection, was handed to the receiver's code
   * at the other end, or dropped there.
   *
   * @param position what a send returned
   * @param timeout how long at most
   * @return false if the timeout has passed
   * @throws MessagingException LOST if the connection of the position has ended
   */
  boolean awaitDelivered(long position, Duration timeout) throws MessagingException;

  /**
   * Sends a request, and waits for the response.
   *
   * @param timeout how long at most
   * @throws MessagingException with the reason if there is no response
   * @throws IllegalStateException inside an INLINE receiver or a codec
   */
  <A> A request(Object request, Class<A> response, Duration timeout) throws MessagingException;

  /**
   * As {@link #request}, for those to whom each nanosecond matters.
   *
   * @param timeoutNs how long at most, in nanoseconds
   */
  <A> A requestNs(Object request, Class<A> response, long timeoutNs) throws MessagingException;

  /**
   * Sends a request; its response is collected later. Waits for room as {@link #send} does.
   *
   * @param timeout after which the request is over
   */
  <A> ResponseFuture<A> requestAsync(Object request, Class<A> response, Duration timeout)
      throws MessagingException;

  /** Whether there is a connection now. */
  boolean connected();

  /** Its connection's transport: {@code loop}, {@code shm}, {@code ucx} or {@code tcp}; or null. */
  String transport();

  /** Why it is that transport, or why there is no connection; for people. */
  String reason();

  /**
   * Bytes that can be sent without waiting, 0 without a connection. Of a receiver that is slow this
   * says nothing: {@link #trySend} may return {@link #BACK_PRESSURED} for it in any case.
   */
  long room();
}
