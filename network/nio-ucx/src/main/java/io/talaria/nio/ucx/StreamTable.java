// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The streams of one engine by their tokens. An engine's.
 *
 * <pre>
 *   63                      20 19    0
 *   +-------------------------+-------+
 *   | random                  | index |
 *   +-------------------------+-------+
 * </pre>
 *
 * <p>So no token is 0, which is {@link QueueCheck#TAG}.
 */
final class StreamTable {
  private static final int INDEX_BITS = 20;
  private static final int MAX_STREAMS = 1 << INDEX_BITS;

  private static final SecureRandom RANDOM = new SecureRandom();

  private UcxStream[] streams = new UcxStream[64];
  private int used;
  private int[] free = new int[64];
  private int freeCount;

  /** Has random numbers ready, which takes its time. */
  static void prepare() {
    RANDOM.nextLong();
  }

  /** A place for a stream, as a token; 0 if none is left. */
  long newToken() {
    int index;
    if (freeCount > 0) {
      index = free[--freeCount];
    } else if (used < MAX_STREAMS) {
      index = used++;
    } else {
      return 0;
    }
    if (index >= streams.length) {
      streams = Arrays.copyOf(streams, streams.length * 2);
    }
    return ((RANDOM.nextLong() | (1L << INDEX_BITS)) & -MAX_STREAMS) | index;
  }

  void put(UcxStream stream) {
    streams[index(stream.token())] = stream;
  }

  /** The stream of a token that a peer has named, or null. */
  UcxStream find(long token) {
    int index = index(token);
    UcxStream stream = index < streams.length ? streams[index] : null;
    return stream != null && stream.token() == token ? stream : null;
  }

  /** All streams. */
  List<UcxStream> all() {
    return Arrays.stream(streams).filter(Objects::nonNull).toList();
  }

  /** Has each stream grant what it owes; needs no memory itself. */
  void grant() {
    for (UcxStream stream : streams) {
      if (stream != null) {
        stream.grant();
      }
    }
  }

  void remove(UcxStream stream) {
    int index = index(stream.token());
    if (streams[index] == stream) {
      streams[index] = null;
      if (freeCount == free.length) {
        free = Arrays.copyOf(free, freeCount * 2);
      }
      free[freeCount++] = index;
    }
  }

  /** Whether no stream has a place, or a token for one. */
  boolean isEmpty() {
    return freeCount == used;
  }

  private static int index(long token) {
    return (int) token & (MAX_STREAMS - 1);
  }
}
