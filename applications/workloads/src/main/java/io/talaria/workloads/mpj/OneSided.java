// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import mpi.Intracomm;
import mpi.MPI;
import mpi.Win;

/**
 * Accesses of rank 0 to the window of rank 1, each finished by {@code Flush} before the next; the
 * other ranks wait. By the API alone, as {@link Ranks}, and apart from it because other libraries
 * of that API have no windows; {@code ranks.c} does the same in C. One thread a rank.
 */
final class OneSided {
  private static final int TARGET = 1;

  private final int rank;
  private final byte[] array;
  private final Win window;

  /**
   * Makes the window; collective.
   *
   * @param world the ranks, two at least
   * @param bytes of an access; of no meaning to {@link #fetchAndAdd}
   */
  OneSided(Intracomm world, int bytes) {
    rank = world.Rank();
    array = new byte[bytes];
    window = Win.Allocate(Math.max(bytes, Long.BYTES), MPI.BYTE, world);
  }

  /**
   * Writes.
   *
   * @param count how many times
   */
  void put(int count) {
    access(
        count,
        () -> window.Put(array, 0, array.length, MPI.BYTE, TARGET, 0, array.length, MPI.BYTE));
  }

  /**
   * Reads.
   *
   * @param count how many times
   */
  void get(int count) {
    access(
        count,
        () -> window.Get(array, 0, array.length, MPI.BYTE, TARGET, 0, array.length, MPI.BYTE));
  }

  /**
   * Adds one to a long, and fetches what it was.
   *
   * @param count how many times
   */
  void fetchAndAdd(int count) {
    long[] one = {1};
    long[] old = new long[1];
    access(count, () -> window.Fetch_and_op(one, 0, old, 0, MPI.LONG, TARGET, 0, MPI.SUM));
  }

  private void access(int count, Runnable access) {
    if (rank == 0) {
      window.Lock(MPI.LOCK_SHARED, TARGET, 0);
      for (int i = 0; i < count; i++) {
        access.run();
        window.Flush(TARGET);
      }
      window.Unlock(TARGET);
    }
  }
}
