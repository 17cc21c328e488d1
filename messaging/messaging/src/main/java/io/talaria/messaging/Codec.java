// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Encodes objects of one type into bytes and decodes them. Several threads may call a codec at the
 * same time. A codec must not wait, and must not call a {@link Node}, a {@link Peer} or a {@link
 * Request}.
 *
 * <p>A record needs no codec: {@link NodeOptions#type(Class)} generates it.
 *
 * @param <T> the type
 */
public interface Codec<T> {
  /** Returns the exact number of bytes that {@link #write} will write. */
  int size(T message);

  /**
   * Writes an object.
   *
   * @throws RuntimeException of any kind if the object cannot be written: then nothing is sent, and
   *     the call that sends throws this exception
   */
  void write(T message, MessageWriter out);

  /**
   * Reads an object. The reader is valid only during this call.
   *
   * @throws RuntimeException of any kind if the bytes do not fit: the message is dropped, counted
   *     and reported to {@link NodeListener#dropped}, and the connection continues
   */
  T read(MessageReader in);

  /**
   * Reads into an existing object, so that nothing is allocated. A codec that cannot do that
   * returns a new object.
   *
   * @param old what an earlier call returned, or an object of {@link NodeOptions#reuse}
   * @return that object, or another one
   */
  default T readInto(T old, MessageReader in) {
    return read(in);
  }
}
