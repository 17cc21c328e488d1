// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import mpi.ProcessFailedException;
import mpi.Request;
import mpi.Status;

/** Programs of {@link NotifyTest}: ranks fail, and the others continue. */
public final class Survive {
  private static final int VICTIM = 1;

  private Survive() {}

  /**
   * Runs one.
   *
   * @param args its name, and its arguments
   * @throws Exception if a rank finds something wrong
   */
  public static void main(String[] args) throws Exception {
    MPI.Init(args);
    switch (args[0]) {
      case "one" -> one(args[1], args.length > 2);
      case "storm" -> storm(Long.parseLong(args[1]));
      case "all" -> Runtime.getRuntime().halt(10 + MPI.COMM_WORLD.Rank());
      default -> throw new IllegalArgumentException(args[0]);
    }
    MPI.Finalize();
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new AssertionError("rank " + MPI.COMM_WORLD.Rank() + ": " + what);
    }
  }

  private static void die(String how) {
    switch (how) {
      case "halt" -> Runtime.getRuntime().halt(9);
      case "exit" -> System.exit(0); // Without MPI.Finalize.
      default -> throw new IllegalStateException("thrown on purpose");
    }
  }

  private static void revoked(Runnable call) {
    try {
      call.run();
    } catch (MPIException e) {
      check(e.errorClass() == MPIException.ERR_REVOKED, "class " + e.errorClass() + ": " + e);
      return;
    }
    check(false, "a call on a communicator that was revoked returned");
  }

  /**
   * One rank fails.
   *
   * @param keeps whether what it has sent before still arrives
   */
  private static void one(String how, boolean keeps) {
    Intracomm world = MPI.COMM_WORLD;
    int rank = world.Rank();
    int size = world.Size();
    Intracomm w = world.Dup();
    int[] one = {rank};
    // A message that nobody will ever receive, another that is waited for, and a probe's.
    Request unmatched = rank == 0 ? w.Issend(one, 0, 1, MPI.INT, 2, 99) : null;
    w.Barrier();
    if (rank == VICTIM) {
      // All have left the barrier: what it sends for that may be lost with it.
      for (int i = 1; i < size; i++) {
        world.Recv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 6);
      }
      world.Send(new int[] {77}, 0, 1, MPI.INT, 0, 7);
      die(how);
    }
    world.Send(one, 0, 1, MPI.INT, VICTIM, 6);
    boolean named = false;
    try {
      for (int i = 0; ; i++) {
        int[] sum = new int[1];
        w.Allreduce(one, 0, sum, 0, 1, MPI.INT, MPI.SUM);
        check(i < 1_000_000, "the rank does not end");
      }
    } catch (ProcessFailedException e) {
      check(e.rank() == VICTIM, "rank " + e.rank() + " was named");
      named = true;
    } catch (MPIException e) {
      check(e.errorClass() == MPIException.ERR_REVOKED, "class " + e.errorClass());
    }
    w.Revoke();
    check(w.Is_revoked(), "not revoked");
    revoked(w::Barrier);
    revoked(() -> w.Recv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 1));
    revoked(() -> w.Isend(one, 0, 1, MPI.INT, 0, 1));
    if (unmatched != null) {
      revoked(unmatched::Wait);
    }
    check(w.Agree(rank == 0 ? 6 : 7) == 6, "no agreement");
    Intracomm rest = w.Shrink();
    check(rest.Size() == size - 1, "size " + rest.Size());
    check(rest.Rank() == (rank > VICTIM ? rank - 1 : rank), "rank " + rest.Rank());
    w.Free();
    int[] sum = new int[1];
    rest.Allreduce(one, 0, sum, 0, 1, MPI.INT, MPI.SUM);
    check(sum[0] == size * (size - 1) / 2 - VICTIM, "sum " + sum[0]);
    anySource(rest);
    // What it has sent before it ended is there; what it has not, never comes.
    if (rank == 0 && keeps) {
      int[] got = new int[1];
      world.Recv(got, 0, 1, MPI.INT, VICTIM, 7);
      check(got[0] == 77, "got " + got[0]);
    }
    fails(() -> world.Recv(new int[1], 0, 1, MPI.INT, VICTIM, 9));
    fails(() -> world.Recv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 8));
    fails(() -> world.Ssend(one, 0, 1, MPI.INT, VICTIM, 7));
    check(world.Get_failed().Size() == 1, "failed " + world.Get_failed().Size());
    check(world.Ack_failed(1) == 1, "not acknowledged");
    Request later = world.Irecv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 8);
    rest.Barrier();
    world.Send(one, 0, 1, MPI.INT, rank, 8);
    Status status = later.Wait();
    check(status.source == rank, "from " + status.source);
    rest.Free();
    System.out.println("rank " + rank + " continued" + (named ? "" : " after it was revoked"));
  }

  private static void fails(Runnable call) {
    try {
      call.run();
    } catch (ProcessFailedException e) {
      check(e.rank() == VICTIM, "rank " + e.rank() + " was named");
      return;
    }
    check(false, "a call that waits for a rank that has ended returned");
  }

  /** Each rank receives from any other. */
  private static void anySource(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int[] out = {me};
    int[] in = new int[n];
    Request[] receives = new Request[n];
    for (int i = 0; i < n; i++) {
      receives[i] = w.Irecv(in, i, 1, MPI.INT, MPI.ANY_SOURCE, 3);
    }
    for (int i = 0; i < n; i++) {
      w.Send(out, 0, 1, MPI.INT, i, 3);
    }
    for (Request receive : receives) {
      receive.Wait();
    }
    int sum = 0;
    for (int each : in) {
      sum += each;
    }
    check(sum == n * (n - 1) / 2, "sum " + sum);
  }

  /** One rank after the other is ended at a random moment, until two are left. */
  private static void storm(long seed) {
    Random random = new Random(seed);
    Intracomm w = MPI.COMM_WORLD.Dup();
    while (w.Size() > 2) {
      int victim = random.nextInt(w.Size());
      long afterNs = random.nextInt(30_000_000);
      if (w.Rank() == victim) {
        Thread end =
            new Thread(
                () -> {
                  LockSupport.parkNanos(afterNs);
                  Runtime.getRuntime().halt(9);
                });
        end.start();
      }
      int before = w.Size();
      try {
        work(w, random.nextLong());
      } catch (MPIException e) {
        boolean known =
            e instanceof ProcessFailedException || e.errorClass() == MPIException.ERR_REVOKED;
        check(known, "" + e);
      }
      w.Revoke();
      Intracomm rest = w.Shrink();
      check(rest.Size() == before - 1, rest.Size() + " of " + before + " are left");
      w.Free();
      w = rest;
      int[] all = new int[w.Size()];
      w.Allgather(new int[] {w.Rank()}, 0, 1, MPI.INT, all, 0, 1, MPI.INT);
      for (int i = 0; i < all.length; i++) {
        check(all[i] == i, "rank " + i + " has " + all[i]);
      }
    }
    System.out.println("rank " + MPI.COMM_WORLD.Rank() + " is left");
  }

  /** Collectives and messages of all sizes, until one fails. */
  private static void work(Intracomm w, long seed) {
    Random shared = new Random(seed);
    int n = w.Size();
    int me = w.Rank();
    while (true) {
      int length = 1 + shared.nextInt(shared.nextBoolean() ? 100 : 100_000);
      int[] a = new int[length];
      int[] b = new int[length];
      int root = shared.nextInt(n);
      switch (shared.nextInt(5)) {
        case 0 -> w.Allreduce(a, 0, b, 0, length, MPI.INT, MPI.SUM);
        case 1 -> w.Bcast(a, 0, length, MPI.INT, root);
        case 2 -> w.Iallreduce(a, 0, b, 0, length, MPI.INT, MPI.MAX).Wait();
        case 3 ->
            w.Sendrecv(
                a, 0, length, MPI.INT, (me + 1) % n, 4, b, 0, length, MPI.INT, (me + n - 1) % n, 4);
        default -> {
          Request receive = w.Irecv(b, 0, length, MPI.INT, MPI.ANY_SOURCE, 5);
          w.Ssend(a, 0, length, MPI.INT, (me + 1) % n, 5);
          receive.Wait();
        }
      }
    }
  }
}
