// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import mpi.Group;
import mpi.Intercomm;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import mpi.ProcessFailedException;
import mpi.Request;
import mpi.Status;
import mpi.Win;

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
      case "inter" -> inter();
      case "test-window" -> testWindow();
      case "windows" -> windows();
      case "buffered" -> buffered();
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
    // And a receive that no message will ever come for.
    Request[] posted = {w.Irecv(new int[1], 0, 1, MPI.INT, rank, 98)};
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
    revoked(() -> Request.Waitany(posted));
    check(posted[0].Is_null(), "a request that has failed is not null");
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

  /** A communicator whose ranks have learned of a failure, or are told that another one has. */
  private static void awaitFailure(Runnable collective) {
    try {
      for (int i = 0; ; i++) {
        collective.run();
        check(i < 1_000_000, "the rank does not end");
      }
    } catch (MPIException e) {
      boolean known =
          e instanceof ProcessFailedException || e.errorClass() == MPIException.ERR_REVOKED;
      check(known, "class " + e.errorClass() + ": " + e);
    }
  }

  /** The leader of a side of an inter-communicator fails, and then the rest of that side. */
  private static void inter() {
    Intracomm world = MPI.COMM_WORLD;
    int rank = world.Rank();
    boolean odd = rank % 2 == VICTIM;
    int place = rank / 2;
    Intracomm side = world.Split(odd ? 1 : 0, rank);
    Intercomm both = world.Create_intercomm(side, 0, odd ? 0 : VICTIM, 5);
    both.Barrier();
    int flag = odd ? (place == 0 ? 13 : 15) : (place == 0 ? 6 : 7);
    int agreed = both.Agree(flag);
    check(agreed == (odd ? 6 : 13), "of the other group: " + agreed);
    if (rank == VICTIM) {
      die("halt");
    }
    awaitFailure(both::Barrier);
    both.Revoke();
    check(both.Is_revoked(), "not revoked");
    int[] one = {rank};
    revoked(both::Barrier);
    revoked(() -> both.Send(one, 0, 1, MPI.INT, 0, 1));
    revoked(() -> both.Recv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 1));
    revoked(() -> both.Merge(odd));
    revoked(() -> both.Ibarrier().Wait());
    check(both.Size() == 3 && both.Remote_size() == 3 && both.Rank() == place, "the groups");
    agreed = both.Agree(flag);
    check(agreed == (odd ? 6 : 15), "of those that are left: " + agreed);
    check(both.Get_failed().Size() == 1, "failed " + both.Get_failed().Size());
    Intercomm rest = both.Shrink();
    both.Free();
    check(rest.Size() == (odd ? 2 : 3), "size " + rest.Size());
    check(rest.Remote_size() == (odd ? 3 : 2), "remote size " + rest.Remote_size());
    check(rest.Rank() == (odd ? place - 1 : place), "rank " + rest.Rank());
    itWorks(rest, odd);
    Intercomm copy = (Intercomm) rest.clone();
    itWorks(copy, odd);
    copy.Free();
    agreed = rest.Agree(rank);
    check(agreed == (odd ? 0 : 3 & 5), "of the other group, once more: " + agreed);
    if (odd) {
      die("halt");
    }
    awaitFailure(rest::Barrier);
    rest.Revoke();
    agreed = rest.Agree(5);
    check(agreed == -1, "of nobody: " + agreed);
    check(rest.Shrink() == null, "a group is empty");
    rest.Free();
    side.Barrier();
    System.out.println("rank " + rank + " continued");
  }

  private static void itWorks(Intercomm both, boolean odd) {
    int[] one = {MPI.COMM_WORLD.Rank()};
    int expected = odd ? 0 + 2 + 4 : 3 + 5;
    int[] sum = new int[1];
    both.Allreduce(one, 0, sum, 0, 1, MPI.INT, MPI.SUM);
    check(sum[0] == expected, "sum " + sum[0]);
    sum[0] = 0;
    both.Iallreduce(one, 0, sum, 0, 1, MPI.INT, MPI.SUM).Wait();
    check(sum[0] == expected, "sum in the background " + sum[0]);
    both.Send(one, 0, 1, MPI.INT, 0, 4);
    if (both.Rank() == 0) {
      int got = 0;
      for (int i = 0; i < both.Remote_size(); i++) {
        both.Recv(sum, 0, 1, MPI.INT, MPI.ANY_SOURCE, 4);
        got += sum[0];
      }
      check(got == expected, "sum of messages " + got);
    }
    Intracomm all = both.Merge(odd);
    check(all.Size() == 5, "size " + all.Size());
    check(all.Rank() == (odd ? 3 + both.Rank() : both.Rank()), "rank " + all.Rank());
    all.Barrier();
    all.Free();
  }

  /** The first and the last of three ranks wait by {@link Win#Test} for the one that fails. */
  private static void testWindow() {
    Intracomm world = MPI.COMM_WORLD;
    Win win = Win.Create(new int[1], 0, 1, MPI.INT, world);
    int[] one = new int[1];
    world.Barrier();
    if (world.Rank() == VICTIM) {
      // All have left the barrier then: what this rank sent for that may be lost with it.
      for (int i = 1; i < world.Size(); i++) {
        world.Recv(one, 0, 1, MPI.INT, MPI.ANY_SOURCE, 6);
      }
      die("halt");
    }
    win.Post(world.Group().Incl(new int[] {VICTIM}), 0);
    world.Send(one, 0, 1, MPI.INT, VICTIM, 6);
    long until = System.nanoTime() + 60_000_000_000L;
    fails(
        () -> {
          while (!win.Test()) {
            check(System.nanoTime() < until, "Test does not tell that the rank has failed");
          }
        });
    // The other one has learned of it, too, before it is told that the window was revoked.
    int other = world.Size() - 1 - world.Rank();
    world.Sendrecv(one, 0, 1, MPI.INT, other, 7, new int[1], 0, 1, MPI.INT, other, 7);
    win.Revoke();
    win.Free();
    System.out.println("rank " + world.Rank() + " continued");
  }

  /** Windows are revoked, alone and with their communicator; then a rank fails. */
  private static void windows() {
    Intracomm world = MPI.COMM_WORLD;
    int rank = world.Rank();
    Intracomm w = world.Dup();
    Win alone = Win.Allocate(4, MPI.INT, w);
    alone.Fence(0);
    if (rank == 0) {
      LockSupport.parkNanos(20_000_000); // Most often the others wait by now.
      alone.Revoke();
    }
    revoked(() -> alone.Fence(0));
    allIsRevoked(alone);
    alone.Free();
    w.Barrier();

    Win byMessages = Win.Create(new int[8], 0, 8, MPI.INT, w);
    Win inMemory = Win.Allocate(8, MPI.INT, w);
    Win dynamic = Win.Create_dynamic(w);
    inMemory.Segment().set(ValueLayout.JAVA_INT, 0, 100 + rank);
    if (rank == 0) {
      byMessages.Lock(MPI.LOCK_EXCLUSIVE, 2, 0);
      inMemory.Lock(MPI.LOCK_EXCLUSIVE, 2, 0);
    }
    // Before they agree: rank 0 revokes all soon afterwards.
    boolean intact = !inMemory.Is_revoked();
    check(w.Agree(intact ? 1 : 0) == 1, "revoked with another one");
    Group ofZero = w.Group().Incl(new int[] {0});
    switch (rank) {
      case 0 -> {
        LockSupport.parkNanos(20_000_000);
        w.Revoke();
      }
      case 1 -> revoked(() -> byMessages.Start(ofZero, 0));
      case 2 ->
          revoked(
              () -> {
                byMessages.Post(ofZero, 0); // Which may be late already.
                byMessages.Wait();
              });
      case 3 -> revoked(() -> byMessages.Lock(MPI.LOCK_EXCLUSIVE, 2, 0));
      default -> revoked(() -> inMemory.Lock(MPI.LOCK_EXCLUSIVE, 2, 0));
    }
    for (Win win : new Win[] {byMessages, inMemory, dynamic}) {
      allIsRevoked(win);
    }
    revoked(() -> dynamic.Attach(new int[1], 0, 1, MPI.INT));
    revoked(() -> Win.Allocate(1, MPI.INT, w));
    int kept = inMemory.Segment().get(ValueLayout.JAVA_INT, 0);
    check(kept == 100 + rank, "the window has " + kept);
    for (Win win : new Win[] {byMessages, inMemory, dynamic}) {
      check(win.Group().Size() == 5, "size of the window's group");
      win.Free();
    }
    if (rank == VICTIM) {
      die("halt");
    }
    Intracomm rest = w.Shrink();
    w.Free();
    int n = rest.Size();
    check(n == 4, "size " + n);
    Win again = Win.Allocate(1, MPI.INT, rest);
    again.Fence(0);
    again.Put(new int[] {rest.Rank()}, 0, 1, MPI.INT, (rest.Rank() + 1) % n, 0, 1, MPI.INT);
    again.Fence(0);
    int got = again.Segment().get(ValueLayout.JAVA_INT, 0);
    check(got == (rest.Rank() + n - 1) % n, "got " + got);
    check(again.Get_failed().Size() == 0, "failed " + again.Get_failed().Size());
    again.Free();
    System.out.println("rank " + rank + " continued");
  }

  /** A rank fails that has not received buffered messages: the buffer is free all the same. */
  private static void buffered() {
    Intracomm world = MPI.COMM_WORLD;
    int rank = world.Rank();
    if (rank == VICTIM) {
      world.Recv(new int[1], 0, 1, MPI.INT, 0, 6);
      die("halt");
    }
    int bytes = 1_000_000;
    if (rank == 0) {
      MPI.Buffer_attach(new byte[3 * bytes]);
      for (int i = 0; i < 2; i++) {
        world.Bsend(new byte[bytes], 0, bytes, MPI.BYTE, VICTIM, 5);
      }
      world.Send(new int[1], 0, 1, MPI.INT, VICTIM, 6);
    }
    fails(() -> world.Recv(new int[1], 0, 1, MPI.INT, VICTIM, 9));
    if (rank == 0) {
      fails(MPI::Buffer_detach);
      MPI.Buffer_attach(new byte[3 * bytes]);
      world.Bsend(new byte[bytes], 0, bytes, MPI.BYTE, VICTIM, 5); // It is left to Finalize.
    }
  }

  private static void allIsRevoked(Win win) {
    int[] a = new int[1];
    check(win.Is_revoked(), "not revoked");
    revoked(() -> win.Put(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT));
    revoked(() -> win.Get(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT));
    revoked(() -> win.Accumulate(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT, MPI.SUM));
    revoked(() -> win.Fetch_and_op(a, 0, new int[1], 0, MPI.INT, 0, 0, MPI.SUM));
    revoked(() -> win.Rput(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT));
    revoked(() -> win.Rget(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT));
    revoked(() -> win.Fence(0));
    revoked(() -> win.Lock(MPI.LOCK_SHARED, 0, 0));
    revoked(() -> win.Unlock(0));
    revoked(() -> win.Lock_all(0));
    revoked(win::Unlock_all);
    revoked(() -> win.Flush(0));
    revoked(win::Flush_all);
    revoked(() -> win.Post(MPI.COMM_WORLD.Group(), 0));
    revoked(() -> win.Start(MPI.COMM_WORLD.Group(), 0));
    revoked(win::Complete);
    revoked(win::Wait);
    revoked(win::Test);
  }

  /** One rank after the other is ended at a random moment, until two are left. */
  private static void storm(long seed) {
    Random random = new Random(seed);
    Intracomm w = MPI.COMM_WORLD.Dup();
    while (w.Size() > 2) {
      // All have left what came before: what the next victim has sent for it may be lost with it.
      check(w.Agree(1) == 1, "no agreement");
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
