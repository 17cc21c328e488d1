// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Turns objects of one type into bytes and back. Any number of threads at once; a codec must not
 * wait, nor call a {@link Node}, a {@link Peer} or a {@link Request}.
 *
 * <p>For a record none is needed: {@link NodeOptions#type(Class)} makes it.
 *
 * @param <T> the type
 */
public interface Codec<T> {
  /** How many bytes {@link #write} will write: exactly. */
  int size(T message);

  /**
   * Writes an object.
   *
   * @throws RuntimeException of any kind if it cannot be written: then nothing is sent, and whoever
   *     sends gets the exception
   */
  void write(T message, MessageWriter out);

  /**
   * Reads an object. What it reads is only valid during the call.
   *
   * @throws RuntimeException of any kind if the bytes do not fit: the message is dropped, counted
   *     and told, and the connection goes on
   */
  T read(MessageReader in);

  /**
   * Reads into an object that was read before, so that nothing is allocated; a codec that cannot do
   * that makes a new one.
   *
   * @param old what an earlier call returned, or an object of {@link NodeOptions#reuse}
   * @return that object, or another
   */
  default T readInto(T old, MessageReader in) {
    return read(in);
  }
}
