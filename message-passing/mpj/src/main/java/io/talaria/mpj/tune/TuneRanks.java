// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.tune;

import mpi.Intracomm;
import mpi.MPI;

/**
 * What {@link Mpitune} has measured: each rank of a job runs it, with the properties of the job.
 */
public final class TuneRanks {
  /** A line of results begins so. */
  static final String LINE = "tune ";

  static final String PING = "ping";

  private static final int BLOCKS = 7;

  private TuneRanks() {}

  /** One repetition of what is measured. */
  private interface Step {
    void run(Intracomm comm, byte[] out, byte[] in, int bytes);
  }

  /**
   * Measures.
   *
   * @param args nanoseconds for each size, then what to measure, each as NAME:SIZE,SIZE,...
   */
  public static void main(String[] args) {
    MPI.Init(args);
    Intracomm world = MPI.COMM_WORLD;
    long blockNs = Long.parseLong(args[0]);
    for (int i = 1; i < args.length; i++) {
      int colon = args[i].indexOf(':');
      String name = args[i].substring(0, colon);
      for (String size : args[i].substring(colon + 1).split(",")) {
        measure(world, name, Integer.parseInt(size), blockNs);
      }
    }
    MPI.Finalize();
  }

  private static Step step(String name) {
    return switch (name) {
      case PING ->
          (comm, out, in, n) -> {
            if (comm.Rank() == 0) {
              comm.Send(out, 0, n, MPI.BYTE, 1, 1);
              comm.Recv(in, 0, n, MPI.BYTE, 1, 1);
            } else if (comm.Rank() == 1) {
              comm.Recv(in, 0, n, MPI.BYTE, 0, 1);
              comm.Send(out, 0, n, MPI.BYTE, 0, 1);
            }
          };
      case "bcast" -> (comm, out, in, n) -> comm.Bcast(in, 0, n, MPI.BYTE, 0);
      case "gather" ->
          (comm, out, in, n) -> comm.Gather(out, 0, n, MPI.BYTE, in, 0, n, MPI.BYTE, 0);
      case "scatter" ->
          (comm, out, in, n) -> comm.Scatter(out, 0, n, MPI.BYTE, in, 0, n, MPI.BYTE, 0);
      case "allgather" ->
          (comm, out, in, n) -> comm.Allgather(out, 0, n, MPI.BYTE, in, 0, n, MPI.BYTE);
      case "alltoall" ->
          (comm, out, in, n) -> comm.Alltoall(out, 0, n, MPI.BYTE, in, 0, n, MPI.BYTE);
      case "allreduce" -> (comm, out, in, n) -> comm.Allreduce(out, 0, in, 0, n, MPI.BYTE, MPI.MAX);
      default -> throw new IllegalArgumentException("nothing to measure is called " + name);
    };
  }

  /** The time of one step: the mean of the fastest block, at the slowest rank. */
  private static void measure(Intracomm comm, String name, int bytes, long blockNs) {
    Step step = step(name);
    byte[] out = new byte[bytes * comm.Size()];
    byte[] in = new byte[bytes * comm.Size()];
    long[] count = {1};
    // As many steps as take the time of a block, found while the code is compiled.
    for (long spent = 0; spent < blockNs && count[0] < 1 << 24; count[0] *= 2) {
      long[] slowest = {block(comm, step, out, in, bytes, count[0])};
      comm.Allreduce(MPI.IN_PLACE, 0, slowest, 0, 1, MPI.LONG, MPI.MAX);
      spent = slowest[0];
    }
    double[] best = {Double.MAX_VALUE};
    for (int i = 0; i < BLOCKS; i++) {
      best[0] = Math.min(best[0], (double) block(comm, step, out, in, bytes, count[0]) / count[0]);
    }
    comm.Allreduce(MPI.IN_PLACE, 0, best, 0, 1, MPI.DOUBLE, MPI.MAX);
    if (comm.Rank() == 0) {
      System.out.println(LINE + name + " " + bytes + " " + Math.round(best[0]));
    }
  }

  private static long block(
      Intracomm comm, Step step, byte[] out, byte[] in, int bytes, long count) {
    comm.Barrier();
    long start = System.nanoTime();
    for (long i = 0; i < count; i++) {
      step.run(comm, out, in, bytes);
    }
    return System.nanoTime() - start;
  }
}
