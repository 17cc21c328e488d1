// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.tune;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import mpi.Intracomm;
import mpi.MPI;

/**
 * What {@link Mpitune} has measured: each rank of a job runs it, with the properties of the job.
 * All cases take turns, so that each meets the same states of the machine, and none is measured
 * before the code of all is compiled.
 */
public final class TuneRanks {
  /** A line of results begins so; a name, an algorithm, bytes and nanoseconds follow. */
  static final String LINE = "tune ";

  static final String PING = "ping";

  /** In the place of an algorithm: the one that is chosen as usual. */
  static final String USUAL = "usual";

  private static final MethodHandle FORCE = forceMethod();
  private static final int WARM_UP_ROUNDS = 3;
  private static final int ROUNDS = 6;
  private static final long MAX_STEPS = 1 << 24;

  private TuneRanks() {}

  /** One repetition of what is measured, the number of which is given. */
  private interface Step {
    void run(Intracomm comm, Buffers buffers, int bytes, int number);
  }

  /** What all cases send and receive. */
  @SuppressWarnings("ArrayRecordComponent") // they are never compared
  private record Buffers(byte[] out, byte[] in, double[] terms, double[] sums) {
    static Buffers of(int bytes) {
      int doubles = bytes / Double.BYTES;
      return new Buffers(
          new byte[bytes], new byte[bytes], new double[doubles], new double[doubles]);
    }
  }

  /**
   * Measures.
   *
   * @param args nanoseconds for a block of steps of one case, then what to measure, each as
   *     NAME:ALGORITHM,...:SIZE,...
   */
  public static void main(String[] args) {
    MPI.Init(args);
    Intracomm world = MPI.COMM_WORLD;
    long blockNs = Long.parseLong(args[0]);
    List<Case> cases = new ArrayList<>();
    int most = 0;
    for (int i = 1; i < args.length; i++) {
      String[] parts = args[i].split(":");
      for (String algorithm : parts[1].split(",")) {
        for (String size : parts[2].split(",")) {
          int bytes = Integer.parseInt(size);
          cases.add(new Case(world, parts[0], algorithm, bytes));
          most = Math.max(most, bytes * world.Size());
        }
      }
    }
    Buffers buffers = Buffers.of(most);
    for (int round = 0; round < WARM_UP_ROUNDS; round++) {
      for (Case each : cases) {
        each.warmUp(buffers, blockNs);
      }
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (Case each : cases) {
        each.measure(buffers);
      }
    }
    for (Case each : cases) {
      each.report();
    }
    MPI.Finalize();
  }

  /** The roots of collectives take turns, so that none runs ahead of the others for long. */
  private static Step step(String name) {
    return switch (name) {
      case PING ->
          (comm, b, n, i) -> {
            if (comm.Rank() == 0) {
              comm.Send(b.out(), 0, n, MPI.BYTE, 1, 1);
              comm.Recv(b.in(), 0, n, MPI.BYTE, 1, 1);
            } else if (comm.Rank() == 1) {
              comm.Recv(b.in(), 0, n, MPI.BYTE, 0, 1);
              comm.Send(b.out(), 0, n, MPI.BYTE, 0, 1);
            }
          };
      case "bcast" -> (comm, b, n, i) -> comm.Bcast(b.in(), 0, n, MPI.BYTE, i % comm.Size());
      case "gather" ->
          (comm, b, n, i) ->
              comm.Gather(b.out(), 0, n, MPI.BYTE, b.in(), 0, n, MPI.BYTE, i % comm.Size());
      case "scatter" ->
          (comm, b, n, i) ->
              comm.Scatter(b.out(), 0, n, MPI.BYTE, b.in(), 0, n, MPI.BYTE, i % comm.Size());
      case "allgather" ->
          (comm, b, n, i) -> comm.Allgather(b.out(), 0, n, MPI.BYTE, b.in(), 0, n, MPI.BYTE);
      case "alltoall" ->
          (comm, b, n, i) -> comm.Alltoall(b.out(), 0, n, MPI.BYTE, b.in(), 0, n, MPI.BYTE);
      case "allreduce" ->
          (comm, b, n, i) ->
              comm.Allreduce(b.terms(), 0, b.sums(), 0, n / Double.BYTES, MPI.DOUBLE, MPI.SUM);
      default -> throw new IllegalArgumentException("nothing to measure is called " + name);
    };
  }

  /**
   * Has a communicator use an algorithm, or the usual one if it is null. Programs cannot do that:
   * the method is not public.
   */
  private static void force(Intracomm comm, String collective, String algorithm) {
    try {
      FORCE.invokeExact(comm, collective, algorithm);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("force", e);
    }
  }

  private static MethodHandle forceMethod() {
    try {
      return MethodHandles.privateLookupIn(Intracomm.class, MethodHandles.lookup())
          .findVirtual(
              Intracomm.class,
              "force",
              MethodType.methodType(void.class, String.class, String.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("force", e);
    }
  }

  /** One algorithm with messages of one size. */
  private static final class Case {
    private final Intracomm comm;
    private final String name;
    private final String algorithm;
    private final int bytes;
    private final Step step;

    /** How many steps take about the time of a block. */
    private long steps = 1;

    /** Of the fastest block, for each step. */
    private double bestNs = Double.MAX_VALUE;

    Case(Intracomm comm, String name, String algorithm, int bytes) {
      this.comm = comm;
      this.name = name;
      this.algorithm = algorithm;
      this.bytes = bytes;
      step = step(name);
    }

    /** Runs for the time of a block, at the slowest rank, and finds out how many steps that is. */
    void warmUp(Buffers buffers, long blockNs) {
      long[] spentNs = {0};
      do {
        spentNs[0] = block(buffers);
        comm.Allreduce(MPI.IN_PLACE, 0, spentNs, 0, 1, MPI.LONG, MPI.MAX);
        double more = Math.min(16, Math.max(0.1, (double) blockNs / Math.max(1, spentNs[0])));
        steps = Math.max(1, Math.min(MAX_STEPS, Math.round(steps * more)));
      } while (spentNs[0] < blockNs / 2 && steps < MAX_STEPS);
    }

    void measure(Buffers buffers) {
      bestNs = Math.min(bestNs, (double) block(buffers) / steps);
    }

    private long block(Buffers buffers) {
      if (!algorithm.equals(USUAL)) {
        force(comm, name, algorithm);
      }
      comm.Barrier();
      long startNs = System.nanoTime();
      for (long i = 0; i < steps; i++) {
        step.run(comm, buffers, bytes, (int) i);
      }
      long spentNs = System.nanoTime() - startNs;
      if (!algorithm.equals(USUAL)) {
        force(comm, name, null);
      }
      return spentNs;
    }

    /** Prints the time of a step, at the slowest rank. */
    void report() {
      double[] slowestNs = {bestNs};
      comm.Allreduce(MPI.IN_PLACE, 0, slowestNs, 0, 1, MPI.DOUBLE, MPI.MAX);
      if (comm.Rank() == 0) {
        System.out.println(
            LINE + name + " " + algorithm + " " + bytes + " " + Math.round(slowestNs[0]));
      }
    }
  }
}
