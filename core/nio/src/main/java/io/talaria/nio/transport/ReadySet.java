// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import java.nio.channels.SelectableChannel;

/**
 * Where one selector finds its ready streams. Confined to the thread that is selecting.
 *
 * <p>The selector calls {@link #progress} and {@link #drainReady} as often as it looks. Before it
 * sleeps it calls {@link #arm}; if that returns true it sleeps on the control connections of its
 * streams and on {@link #selectable}; then it calls {@link #disarm}.
 */
public interface ReadySet extends AutoCloseable {

  /**
   * Moves the transport along, for transports that need it (UCX workers).
   *
   * @param budget upper bound of events to handle
   * @return number of events handled
   */
  int progress(int budget);

  /**
   * Hands over streams that became ready since they were last {@linkplain TransportStream#watch
   * watched}. A hint: the sink must look at {@link TransportStream#readiness}.
   *
   * @return number of streams handed over
   */
  int drainReady(ReadySink sink, int max);

  /**
   * Announces that the selector is about to sleep, so that peers ring, then looks again.
   *
   * @return false if something is ready and the selector must not sleep
   */
  boolean arm();

  /** Ends the announcement of {@link #arm}. */
  void disarm();

  /**
   * A channel that becomes readable when this ready set needs attention while armed, or null. It
   * stays the ready set's: the selector only registers it.
   */
  SelectableChannel selectable();

  /**
   * Tells that {@link #selectable} was readable. The selector looks at the ready set afterwards,
   * and announces a sleep only then.
   */
  default void selected() {}

  /**
   * Gives the ready set back. Its streams must have been moved away before, and {@link #selectable}
   * must no longer be registered.
   */
  @Override
  void close();

  /** Takes ready streams. */
  @FunctionalInterface
  interface ReadySink {
    /** Called on the thread that called {@link ReadySet#drainReady}. */
    void ready(TransportStream stream);
  }
}
