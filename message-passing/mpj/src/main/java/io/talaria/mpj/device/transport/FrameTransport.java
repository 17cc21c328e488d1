// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.transport;

import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Peers;
import java.util.List;

/**
 * How a rank reaches others that share no memory with it: something between each two ranks that
 * brings frames in order, made when it is first needed. Called under the engine's lock, but for
 * {@link #sleep}, {@link #wake}, and what comes before the first message. Closed by its device.
 */
public interface FrameTransport extends AutoCloseable {
  /** How the others reach this rank: one line. Before the first message. */
  String rankAddress();

  /**
   * Tells how the others are reached. Before the first message.
   *
   * @param ofAll the rank addresses by rank
   * @throws IllegalArgumentException if one of them cannot be used, and why
   */
  void rankAddresses(List<String> ofAll);

  /**
   * What to run, on a thread of its own, when something has arrived and possibly no thread is
   * looking.
   *
   * @param action takes the engine's lock
   */
  void onNews(Runnable action);

  /** Longest payload of a frame, bytes; a multiple of 8. */
  int longestPayload();

  /**
   * The output to a peer; connects if there is none yet.
   *
   * @param peer its rank
   */
  FrameOutput connect(int peer);

  /**
   * Takes over what has come, sends what waits, and reports ranks that are gone. Before each look
   * at the inputs.
   *
   * @param peers who is told
   * @return how much happened beside that for which somebody may wait: frames have left
   */
  int round(Peers peers);

  /**
   * Disconnects a peer that violates the protocol.
   *
   * @param peer its rank
   * @param what it sent
   */
  void broken(int peer, String what);

  /**
   * The process of a peer has ended. A connection notices that by itself, after all that has come
   * by it; without one the peer is gone.
   *
   * @param peer its rank
   * @param why for the program
   */
  void ended(int peer, String why);

  /**
   * Announces a sleep, after a {@link #round} that brought nothing.
   *
   * @return false if there is something to do: do not sleep
   */
  boolean arm();

  /** Takes the announcement back; also where there was none. */
  void disarm();

  /**
   * Sleeps until something comes, or {@link #wake}. By one thread, without the engine's lock.
   *
   * @param limitNs nanoseconds, at least one millisecond's is slept
   */
  void sleep(long limitNs);

  /** Ends a sleep; by any thread. */
  void wake();

  /** The name of a device that uses this transport alone. */
  String name();

  @Override
  void close();
}
