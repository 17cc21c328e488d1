// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/**
 * How much of a message's time passes while its receiver computes. Rank 0 receives, and times three
 * things: the message alone, work alone that takes about as long, and both at once; what both take
 * less than one after the other was hidden. The sender is in {@code Send} all the time. By the
 * mpiJava API alone, as {@link Ranks}; {@code ranks.c} does the same in C. One thread a rank.
 */
final class Overlap {
  private static final int MESSAGE = 1;
  private static final int GO = 3;
  private static final long FIRST_TURNS = 1_000;
  private static final long MAX_TURNS = 1_000_000_000;

  private final Intracomm world;
  private final int rank;
  private final byte[] array;
  private final byte[] go = new byte[1];
  private long turns = FIRST_TURNS;
  private double sink = 1;
  private long possibleNs;
  private long hiddenNs;

  /**
   * Prepares a rank.
   *
   * @param world the ranks, of which the first two take part
   * @param bytes how long the message is
   */
  Overlap(Intracomm world, int bytes) {
    this.world = world;
    rank = world.Rank();
    array = new byte[bytes];
  }

  /**
   * Does all three so many times.
   *
   * @param count how many times
   */
  void block(int count) {
    if (rank == 1) {
      answer(2 * count);
    } else if (rank == 0) {
      long message = messages(count, 0);
      long begin = System.nanoTime();
      for (int i = 0; i < count; i++) {
        work(turns);
      }
      long work = Math.max(1, System.nanoTime() - begin);
      long both = messages(count, turns);
      long possible = Math.min(message, work);
      possibleNs += possible;
      hiddenNs += Math.max(0, Math.min(possible, message + work - both));
      long wanted = Math.round((double) turns * message / work);
      turns = Math.max(1, Math.min(MAX_TURNS, wanted));
    }
  }

  /** Forgets what was found so far, but not how much work takes how long. */
  void clear() {
    possibleNs = 0;
    hiddenNs = 0;
  }

  /** Returns the time that could have been hidden, in nanoseconds; at rank 0. */
  long possibleNs() {
    return possibleNs;
  }

  /** Returns the time that was hidden, in nanoseconds; at rank 0. */
  long hiddenNs() {
    return hiddenNs;
  }

  private long messages(int count, long turns) {
    long begin = System.nanoTime();
    for (int i = 0; i < count; i++) {
      Request receive = world.Irecv(array, 0, array.length, MPI.BYTE, 1, MESSAGE);
      world.Send(go, 0, 1, MPI.BYTE, 1, GO);
      work(turns);
      receive.Wait();
    }
    return System.nanoTime() - begin;
  }

  private void answer(int count) {
    for (int i = 0; i < count; i++) {
      world.Recv(go, 0, 1, MPI.BYTE, 0, GO);
      world.Send(array, 0, array.length, MPI.BYTE, 0, MESSAGE);
    }
  }

  /** Each turn needs the one before. */
  private void work(long turns) {
    double x = sink;
    for (long i = 0; i < turns; i++) {
      x = x * 0.999999 + 0.000001;
    }
    sink = x;
  }
}
