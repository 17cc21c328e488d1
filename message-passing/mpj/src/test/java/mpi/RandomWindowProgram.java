// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Accesses to windows that a seed makes up, legal by MPI's rules: in each phase every window is cut
 * into parts, and a part is written by one rank, or read by some, or combined by some with one
 * operation. All ranks know the whole program, and what each window must contain after each phase.
 */
final class RandomWindowProgram {
  private static final int PHASES = 8;
  private static final int MAX_LENGTH = 100_000;
  private static final int FENCE = 0;
  private static final int GROUPS = 1;
  private static final int LOCK_ALL = 2;
  private static final int LOCKS = 3;
  private static final int PUT = 0;
  private static final int GET = 1;
  private static final int COMBINE = 2;
  private static final int FETCH = 3;
  private static final int READ_AND_WRITE = 4;

  private final long seed;
  private final Intracomm comm;
  private final int rank;
  private final int size;
  private final Random shared;
  private final Random own;
  private final int[][] model;
  private final int[] array;
  private final MemorySegment segment;
  private final Win window;

  /** By rank: displacement of its first element, and displacements of an element. */
  private final long[] starts;

  private final int unit;

  /** Accesses that are waited for before their phase ends. */
  private final List<Request> requests = new ArrayList<>();

  /** What one rank does with a part. */
  private record Access(int origin, int target, int kind, int from, int count, int step, int op) {
    int place(int i) {
      return from + i * step;
    }
  }

  RandomWindowProgram(long seed, Intracomm comm) {
    this.seed = seed;
    this.comm = comm;
    rank = comm.Rank();
    size = comm.Size();
    shared = new Random(seed);
    own = new Random(seed * 31 + rank);
    model = new int[size][];
    for (int i = 0; i < size; i++) {
      model[i] =
          new int
              [switch (shared.nextInt(4)) {
                case 0 -> 0;
                case 1 -> shared.nextInt(MAX_LENGTH);
                default -> shared.nextInt(200);
              }];
    }
    int length = model[rank].length;
    starts = new long[size];
    int made = shared.nextInt(4);
    unit = made == 3 ? 4 : 1;
    switch (made) {
      case 0 -> {
        array = new int[length + 3];
        segment = null;
        window = Win.Create(array, 2, length, MPI.INT, comm);
      }
      case 3 -> {
        array = new int[length + 3];
        segment = null;
        window = Win.Create_dynamic(comm);
        long[] start = {window.Attach(array, 2, length, MPI.INT)};
        comm.Allgather(start, 0, 1, MPI.LONG, starts, 0, 1, MPI.LONG);
      }
      case 1 -> {
        array = null;
        segment = Arena.ofAuto().allocate(4L * length, 4);
        window = Win.Create(segment, 0, length, MPI.INT, comm);
      }
      default -> {
        array = null;
        window = Win.Allocate(length, MPI.INT, comm);
        segment = window.Segment();
      }
    }
  }

  void run() {
    for (int phase = 0; phase < PHASES; phase++) {
      phase();
    }
    window.Free();
  }

  private void phase() {
    int kind = shared.nextInt(4);
    List<Access> all = new ArrayList<>();
    for (int target = 0; target < size; target++) {
      int length = model[target].length;
      for (int at = 0; at < length; ) {
        int part = Math.min(length - at, 1 + shared.nextInt(1 + length / 3));
        plan(kind, target, at, part, all);
        at += part;
      }
    }
    List<Access> mine = new ArrayList<>(all.stream().filter(a -> a.origin == rank).toList());
    Collections.shuffle(mine, own);
    List<Runnable> checks = new ArrayList<>();
    begin(kind);
    for (Access access : mine) {
      if (kind == LOCKS) {
        boolean exclusive = access.kind == READ_AND_WRITE || own.nextInt(2) == 0;
        window.Lock(exclusive ? MPI.LOCK_EXCLUSIVE : MPI.LOCK_SHARED, access.target, 0);
      }
      boolean passive = kind == LOCKS || kind == LOCK_ALL;
      start(access, checks, passive && own.nextBoolean());
      if (kind == LOCKS) {
        window.Unlock(access.target);
      } else if (kind == LOCK_ALL && own.nextInt(5) == 0) {
        window.Flush(access.target);
      }
    }
    for (Status status : Request.Waitall(requests.toArray(new Request[0]))) {
      assertThat(status.Test_cancelled()).isFalse();
    }
    requests.clear();
    end(kind);
    checks.forEach(Runnable::run);
    all.forEach(this::apply);
    compare();
    comm.Barrier();
  }

  private void plan(int kind, int target, int at, int length, List<Access> all) {
    int access = shared.nextInt(kind == LOCKS ? 5 : 4);
    int step = 1 + shared.nextInt(3);
    int count = (length - 1) / step + 1;
    int op = shared.nextInt(4);
    boolean several = access != PUT;
    int first = shared.nextInt(size);
    for (int i = 0; i < size; i++) {
      if (i == first || (several && shared.nextInt(3) == 0)) {
        all.add(new Access(i, target, access, at, count, step, op));
      }
    }
  }

  private void begin(int kind) {
    switch (kind) {
      case FENCE -> window.Fence(0);
      case GROUPS -> {
        window.Post(comm.Group(), 0);
        window.Start(comm.Group(), 0);
      }
      case LOCK_ALL -> window.Lock_all(0);
      default -> {}
    }
  }

  private void end(int kind) {
    switch (kind) {
      case FENCE -> window.Fence(MPI.MODE_NOSUCCEED);
      case GROUPS -> {
        window.Complete();
        window.Wait();
      }
      case LOCK_ALL -> window.Unlock_all();
      default -> {}
    }
    // Also what others have locked, combined or written is done.
    comm.Barrier();
    window.Sync();
  }

  private static int value(Access a, int i) {
    return a.origin * 7919 + a.from * 31 + i * 17 + a.kind + 1;
  }

  private static Op op(Access a) {
    return new Op[] {MPI.SUM, MPI.MAX, MPI.BXOR, MPI.MIN}[a.op];
  }

  private void start(Access a, List<Runnable> checks, boolean asRequest) {
    int n = a.count;
    long disp = starts[a.target] + (long) unit * a.from;
    int[] out = new int[n + 1];
    for (int i = 0; i < n; i++) {
      out[1 + i] = value(a, i);
    }
    Datatype type = MPI.INT;
    int layouts = n;
    if (a.step > 1) {
      type = Datatype.Vector(n, 1, a.step, MPI.INT);
      type.Commit();
      layouts = 1;
    }
    int[] got = new int[n];
    int[] before = model[a.target];
    switch (a.kind) {
      case PUT -> {
        if (asRequest) {
          window.Rput(out, 1, n, MPI.INT, a.target, disp, layouts, type).Wait();
          Arrays.fill(out, -1);
        } else {
          window.Put(out, 1, n, MPI.INT, a.target, disp, layouts, type);
        }
      }
      case GET -> {
        if (asRequest) {
          requests.add(window.Rget(got, 0, n, MPI.INT, a.target, disp, layouts, type));
        } else {
          window.Get(got, 0, n, MPI.INT, a.target, disp, layouts, type);
        }
        int[] expected = new int[n];
        for (int i = 0; i < n; i++) {
          expected[i] = before[a.place(i)];
        }
        checks.add(() -> assertThat(got).as("seed %s", seed).isEqualTo(expected));
      }
      case COMBINE -> {
        if (asRequest) {
          requests.add(
              window.Raccumulate(out, 1, n, MPI.INT, a.target, disp, layouts, type, op(a)));
        } else {
          window.Accumulate(out, 1, n, MPI.INT, a.target, disp, layouts, type, op(a));
        }
      }
      case FETCH -> {
        if (asRequest) {
          requests.add(
              window.Rget_accumulate(
                  out, 1, n, MPI.INT, got, 0, n, MPI.INT, a.target, disp, layouts, type, op(a)));
        } else {
          window.Get_accumulate(
              out, 1, n, MPI.INT, got, 0, n, MPI.INT, a.target, disp, layouts, type, op(a));
        }
        int[] lowest = new int[n];
        for (int i = 0; i < n; i++) {
          lowest[i] = before[a.place(i)];
        }
        checks.add(() -> fetched(a, lowest, got));
      }
      default -> {
        // In an exclusive lock.
        if (asRequest) {
          window.Rget(got, 0, n, MPI.INT, a.target, disp, layouts, type).Wait();
        } else {
          window.Get(got, 0, n, MPI.INT, a.target, disp, layouts, type);
          window.Flush(a.target);
        }
        for (int i = 0; i < n; i++) {
          got[i] += value(a, i);
        }
        window.Put(got, 0, n, MPI.INT, a.target, disp, layouts, type);
      }
    }
  }

  /** What was there before is the old value, or the old value combined with those of others. */
  private void fetched(Access a, int[] old, int[] got) {
    for (int i = 0; i < got.length; i++) {
      switch (a.op) {
        case 1 -> assertThat(got[i]).as("seed %s", seed).isGreaterThanOrEqualTo(old[i]);
        case 3 -> assertThat(got[i]).as("seed %s", seed).isLessThanOrEqualTo(old[i]);
        default -> {}
      }
    }
  }

  private void apply(Access a) {
    int[] target = model[a.target];
    for (int i = 0; i < a.count; i++) {
      int place = a.place(i);
      int value = value(a, i);
      switch (a.kind) {
        case PUT -> target[place] = value;
        case GET -> {}
        case READ_AND_WRITE -> target[place] += value;
        default ->
            target[place] =
                switch (a.op) {
                  case 0 -> target[place] + value;
                  case 1 -> Math.max(target[place], value);
                  case 2 -> target[place] ^ value;
                  default -> Math.min(target[place], value);
                };
      }
    }
  }

  private void compare() {
    int[] expected = model[rank];
    int[] actual;
    if (array != null) {
      assertThat(array[0] + array[1] + array[array.length - 1]).isZero();
      actual = Arrays.copyOfRange(array, 2, array.length - 1);
    } else {
      actual = segment.toArray(ValueLayout.JAVA_INT);
    }
    assertThat(actual).as("seed %s, rank %s", seed, rank).isEqualTo(expected);
  }
}
