// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import mpi.MPI;
import mpi.MPIException;

/** What the launcher's tests run: the first argument says which. */
public final class Programs {
  private Programs() {}

  /** Threads, besides the JVM's and this one, that are in a native method, as in a read. */
  private static List<Thread> threadsInTheKernel() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(one -> one.getKey().getName().startsWith("talaria"))
        .filter(one -> one.getValue().length > 0 && one.getValue()[0].isNativeMethod())
        .filter(one -> one.getKey().getState() == Thread.State.RUNNABLE)
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * Runs one.
   *
   * @param args its name, and its arguments
   * @throws Exception as it likes
   */
  public static void main(String[] args) throws Exception {
    String[] rest = MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    int size = MPI.COMM_WORLD.Size();
    switch (rest[0]) {
      case "hello" -> System.out.println("hello from " + rank + " of " + size);
      case "finished" -> {
        MPI.Finalize();
        while (!threadsInTheKernel().isEmpty()) {
          Thread.sleep(10);
        }
        System.out.println("no thread of " + rank + " is in the kernel");
        return;
      }
      case "cores" -> System.out.println("cores of " + rank + ": " + AllowedCores.list());
      case "exit" -> {
        if (rank == 1) {
          System.exit(Integer.parseInt(rest[1]));
        }
        MPI.COMM_WORLD.Barrier();
      }
      case "abort" -> {
        if (rank == 1) {
          MPI.COMM_WORLD.Abort(Integer.parseInt(rest[1]));
        }
        MPI.COMM_WORLD.Barrier();
      }
      case "throw" -> {
        if (rank == 1) {
          throw new MPIException("thrown on purpose");
        }
        MPI.COMM_WORLD.Barrier();
      }
      case "too-long" -> {
        MPI.COMM_WORLD.Send(new int[2], 0, 2, MPI.INT, rank, 0);
        try {
          MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, rank, 0);
        } catch (MPIException e) {
          System.out.println(rank + " caught " + e.errorClass() + ": " + e.getMessage());
        }
      }
      case "revoke" -> {
        try {
          MPI.COMM_WORLD.Revoke();
        } catch (MPIException e) {
          System.out.println(e.getMessage());
        }
      }
      case "return" -> {
        return;
      }
      case "leave" -> {
        if (rank == 1) {
          return;
        }
        MPI.COMM_WORLD.Barrier();
      }
      case "deadlock" -> MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, 1 - rank, 42);
      case "disagree" -> {
        if (rank == 0) {
          MPI.COMM_WORLD.Bcast(new int[4], 0, 4, MPI.INT, 0);
        } else {
          MPI.COMM_WORLD.Barrier();
        }
      }
      case "half-barrier" -> {
        if (rank == 0) {
          MPI.COMM_WORLD.Barrier();
        }
        MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, 0, 42);
      }
      case "count" -> count(rank, size, Integer.parseInt(rest[1]));
      case "gossip" -> gossip(rank, size);
      case "late-pair" -> latePair(rank);
      case "busy" -> busy(rank, size);
      case "hook" -> hook(rank, rest[1].equals("hangs"));
      case "long-lines" -> {
        for (int i = 0; i < 20; i++) {
          System.out.println(("" + rank).repeat(300_000));
        }
      }
      case "many-lines" -> {
        for (int i = 0; i < Integer.parseInt(rest[1]); i++) {
          System.out.println("x".repeat(999));
        }
      }
      case "child" -> {
        Process child = new ProcessBuilder("sleep", "600").inheritIO().start();
        System.out.println("pid " + rank + " " + child.pid());
      }
      case "input" -> {
        if (rank == 0) {
          System.out.println("read " + System.in.readAllBytes().length + " bytes");
        }
      }
      default -> throw new IllegalArgumentException(rest[0]);
    }
    MPI.Finalize();
  }

  /** Says the pid, and then adds up step by step, all together. */
  private static void count(int rank, int size, int steps) {
    System.out.println("pid " + rank + " " + ProcessHandle.current().pid());
    int[] sum = new int[1];
    for (int i = 0; i < steps; i++) {
      int[] next = new int[1];
      MPI.COMM_WORLD.Allreduce(new int[] {sum[0] + 1}, 0, next, 0, 1, MPI.INT, MPI.MAX);
      sum = next;
    }
    if (rank == 0) {
      System.out.println("counted to " + sum[0] + " by " + size);
    }
  }

  /** Each two ranks talk, both ways. */
  private static void gossip(int rank, int size) {
    int[] sent = new int[size];
    int[] received = new int[size];
    Arrays.fill(sent, rank);
    MPI.COMM_WORLD.Alltoall(sent, 0, 1, MPI.INT, received, 0, 1, MPI.INT);
    for (int i = 0; i < size; i++) {
      if (received[i] != i) {
        throw new AssertionError(received[i] + " from rank " + i);
      }
    }
    if (rank == 0) {
      System.out.println("all of " + size + " have spoken");
    }
  }

  /** Two ranks speak for the first time when the others are done. */
  private static void latePair(int rank) throws InterruptedException {
    if (rank == 0) {
      Thread.sleep(1_000);
      MPI.COMM_WORLD.Send(new int[] {42}, 0, 1, MPI.INT, 2, 0);
    } else if (rank == 2) {
      int[] got = new int[1];
      MPI.COMM_WORLD.Recv(got, 0, 1, MPI.INT, 0, 0);
      System.out.println("the last to speak said " + got[0]);
    }
  }

  /** Waits for ever, with a hook that says something, or does not end. */
  private static void hook(int rank, boolean hangs) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  System.out.println("hook of " + rank);
                  while (hangs) {
                    LockSupport.park();
                  }
                }));
    System.out.println("pid " + rank + " " + ProcessHandle.current().pid());
    MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, rank, 42);
  }

  /** Messages, large ones and collectives, for ever. */
  private static void busy(int rank, int size) {
    System.out.println("pid " + rank + " " + ProcessHandle.current().pid());
    Random random = new Random(rank);
    int[] small = new int[10];
    int[] large = new int[300_000];
    for (int i = 0; ; i++) {
      int[] data = i % 5 == 0 ? large : small;
      data[0] = random.nextInt();
      MPI.COMM_WORLD.Sendrecv(
          data,
          0,
          data.length,
          MPI.INT,
          (rank + 1) % size,
          0,
          new int[data.length],
          0,
          data.length,
          MPI.INT,
          (rank + size - 1) % size,
          0);
      MPI.COMM_WORLD.Allreduce(small, 0, new int[10], 0, 10, MPI.INT, MPI.SUM);
    }
  }
}
