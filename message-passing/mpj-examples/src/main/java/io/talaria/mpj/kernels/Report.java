// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import java.util.Locale;
import mpi.MPI;

/** What a kernel says at its end. */
final class Report {
  private static final double WARM_UP_SECONDS = 3;
  private static final double MAX_WARM_UP_SECONDS = 20;

  /** Between two looks at the compilers: one that has been at work for long is only then told. */
  private static final double LOOK_SECONDS = 1;

  private Report() {}

  /** Whether a value is the official one, within a relative error. */
  static boolean equal(double value, double official, double error) {
    return Math.abs((value - official) / official) <= error;
  }

  /** The part of a range that a rank has: the first, and behind the last. */
  static int begin(int count, int rank, int ranks) {
    return (int) ((long) count * rank / ranks);
  }

  /** The class of problem that the program was asked for: S, W or A. */
  static char problem(String[] args) {
    char given = args.length == 0 ? 'S' : args[0].charAt(0);
    if ("SWA".indexOf(given) < 0) {
      throw new IllegalArgumentException("a class of problem is S, W or A, not " + args[0]);
    }
    return given;
  }

  /**
   * Says how it went, on rank 0, and ends the message passing; with status 1 if it went wrong.
   *
   * @param operations millions of them
   * @param seconds of the slowest rank
   */
  static void end(
      String kernel, char problem, double operations, double seconds, boolean verified) {
    if (MPI.COMM_WORLD.Rank() == 0) {
      System.out.println(
          String.format(
              Locale.ROOT,
              "%s class %c, %d ranks: %.1f MOPS, %.3f s, %s",
              kernel,
              problem,
              MPI.COMM_WORLD.Size(),
              operations / seconds,
              seconds,
              verified ? "verified" : "WRONG"));
    }
    MPI.Finalize();
    if (!verified) {
      System.exit(1);
    }
  }

  /**
   * Runs something before the clock starts, as often on all ranks: once for a small problem, else
   * for seconds, and until the JIT compilers of all ranks, which may share their cores, are at
   * rest.
   *
   * @param small whether it is small, as class S is
   * @param work what the clock is for, or a part of it; all ranks may meet in it
   */
  static void warmUp(boolean small, Runnable work) {
    CompilerRest compilers = new CompilerRest();
    double start = now();
    double looked = start;
    boolean more = !small;
    work.run();
    while (more) {
      work.run();
      if (most(now() - looked) >= LOOK_SECONDS) {
        boolean resting = most(compilers.atRest() ? 0 : 1) == 0;
        double elapsed = most(now() - start);
        more = elapsed < (resting ? WARM_UP_SECONDS : MAX_WARM_UP_SECONDS);
        looked = now();
      }
    }
    MPI.COMM_WORLD.Barrier();
  }

  /** The time since a moment, of the slowest rank. */
  static double slowest(double start) {
    return most(now() - start);
  }

  /**
   * Says, on rank 0, which part of the time went into messages, by the rank that spent most on
   * them; waiting for others is in it.
   *
   * @param seconds the time of the slowest rank
   */
  static void communication(String kernel, Stopwatch spent, double seconds) {
    double percent = 100 * most(spent.seconds()) / seconds;
    if (MPI.COMM_WORLD.Rank() == 0) {
      System.out.println(
          String.format(Locale.ROOT, "%s: %.1f %% of the time in communication", kernel, percent));
    }
  }

  private static double most(double value) {
    double[] all = new double[1];
    MPI.COMM_WORLD.Allreduce(new double[] {value}, 0, all, 0, 1, MPI.DOUBLE, MPI.MAX);
    return all[0];
  }

  /** Returns the time in seconds; {@code Wtime} of some libraries counts whole seconds. */
  static double now() {
    return System.nanoTime() / 1e9;
  }
}
