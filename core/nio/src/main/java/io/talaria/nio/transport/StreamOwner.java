// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

/** The channel behind a stream, as the stream sees it. */
public interface StreamOwner {

  /**
   * Wakes the peer's sleeper by a byte on the control connection; through the session while bytes
   * of the peer's may still be on TCP, because a byte of ours that is unread when the peer's
   * process dies would have its kernel drop them. Called by {@link TransportStream} methods on the
   * calling thread, and by the negotiation thread; never blocks.
   *
   * @return whether a doorbell is on its way; else no thread is woken, and the caller must not
   *     believe so
   */
  boolean ring();

  /** Tells that the peer's sleeper was woken by another doorbell than {@link #ring}. As there. */
  default void rung() {}

  /**
   * Tells that the peer says through the session that there is news: it has accepted as well, so
   * that the stream is established, or wakes the threads that sleep. Called by the negotiation
   * thread.
   */
  void woken();

  /**
   * Tells that the peer has released the stream, perhaps without ever having established it. Called
   * by the negotiation thread.
   */
  void released();

  /** Tells that the stream's memory is gone and the stream has ended. Negotiation thread. */
  default void lost() {}

  /**
   * Wakes the threads of this process that wait for the stream, in a select or in a blocking call:
   * what was {@linkplain TransportStream#watch watched} or {@linkplain TransportStream#await
   * awaited} has come. Of streams that {@linkplain TransportStream#wakesByItself wake by
   * themselves}. Any thread; takes leaf locks only.
   */
  default void wake() {}

  /**
   * Runs something that touches the stream's output while no writer is inside, or not at all if one
   * is or the channel closes. Called by the negotiation thread; does not wait.
   */
  default void whileNobodyWrites(Runnable work) {}

  /** The same for the input and its readers. */
  default void whileNobodyReads(Runnable work) {}

  /** Counts a write that found no space; called with the writer's lock held. */
  void stalled();

  /** Takes note of new buffer sizes, for those who watch. */
  void buffersChanged(int inBytes, int outBytes);
}
