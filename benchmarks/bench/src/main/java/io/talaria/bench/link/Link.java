// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;

/**
 * One connection of a library that is measured. All methods are called by the thread that made it,
 * but for {@link #receive} inside {@link #both}, which has a thread of its own unless overridden.
 *
 * <p>A library needs {@link #prepare}, {@link #send} and {@link #receive}; it overrides a pattern
 * where its natural way is another than one call after the other. Messages of a run have the size
 * prepared last. After a pattern all that was sent has been received.
 */
public interface Link extends AutoCloseable {
  /**
   * Gets ready for messages of a size.
   *
   * @param sizeBytes the size
   */
  void prepare(int sizeBytes);

  /**
   * Sends a message; its bytes may be on their way still.
   *
   * @throws IOException if the connection fails
   */
  void send() throws IOException;

  /**
   * Waits until all that was sent has left the library.
   *
   * @throws IOException if the connection fails
   */
  default void flush() throws IOException {}

  /**
   * Receives one message.
   *
   * @throws IOException if the connection fails or ends
   */
  void receive() throws IOException;

  /** Returns whether one side reaches into the other's memory, which only looks on. */
  default boolean oneSided() {
    return false;
  }

  /**
   * If one-sided: begins an access to the peer's memory.
   *
   * @throws IOException if the connection fails
   */
  default void access() throws IOException {
    throw new UnsupportedOperationException("no access to the peer's memory");
  }

  /**
   * If one-sided: waits until all accesses are done.
   *
   * @throws IOException if the connection fails
   */
  default void complete() throws IOException {
    flush();
  }

  /**
   * If one-sided, on the side that only looks on: does what the library needs meanwhile.
   *
   * @param ended whether that is no longer needed
   * @throws IOException if the connection fails
   */
  default void idle(BooleanSupplier ended) throws IOException {
    while (!ended.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  /**
   * Returns whether the peer may wait for {@link #progress} of this side, even if this side has
   * done its part.
   */
  default boolean needsProgress() {
    return false;
  }

  /**
   * Between operations: does what the peer may wait for.
   *
   * @return whether there was anything to do
   * @throws IOException if the connection fails
   */
  default boolean progress() throws IOException {
    return false;
  }

  /**
   * Sends messages.
   *
   * @param messages how many
   * @throws IOException if the connection fails
   */
  default void sendAll(long messages) throws IOException {
    for (long i = 0; i < messages; i++) {
      send();
    }
    flush();
  }

  /**
   * Receives messages.
   *
   * @param messages how many
   * @throws IOException if the connection fails or ends
   */
  default void receiveAll(long messages) throws IOException {
    for (long i = 0; i < messages; i++) {
      receive();
    }
  }

  /**
   * Sends a message and waits for the answer, again and again.
   *
   * @param messages how many
   * @param laps what times them
   * @throws IOException if the connection fails or ends
   */
  default void pingPong(long messages, Laps laps) throws IOException {
    for (long i = 0; i < messages; i++) {
      laps.begin();
      send();
      flush();
      receive();
      laps.end();
    }
  }

  /**
   * Answers messages.
   *
   * @param messages how many
   * @throws IOException if the connection fails or ends
   */
  default void echo(long messages) throws IOException {
    for (long i = 0; i < messages; i++) {
      receive();
      send();
      flush();
    }
  }

  /**
   * Sends and receives at once.
   *
   * @param messages how many, each way
   * @throws IOException if the connection fails or ends
   */
  default void both(long messages) throws IOException {
    FutureTask<Void> receiving =
        new FutureTask<>(
            () -> {
              receiveAll(messages);
              return null;
            });
    Thread thread = new Thread(receiving, Thread.currentThread().getName() + "-receive");
    thread.setDaemon(true);
    thread.start();
    sendAll(messages);
    try {
      receiving.get();
    } catch (ExecutionException e) {
      throw new IOException("receiving failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  void close() throws IOException;
}
