// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What windows do on every device: programs for any number of ranks from 2. */
final class WinContract {
  private static final int ROUNDS =
      Math.clamp(Integer.getInteger("talaria.test.rounds", 150) / 2, 10, 50);

  private WinContract() {}

  /** All of them by name, in order. */
  static Map<String, Variant.Body> all() {
    Map<String, Variant.Body> all = new LinkedHashMap<>();
    all.put("what a fence ends is there", WinContract::fences);
    all.put("all kinds of memory are windows", WinContract::memories);
    all.put("all base types", WinContract::baseTypes);
    all.put("large and strided accesses", WinContract::large);
    all.put("a window of bytes takes elements of any type", WinContract::bytes);
    all.put("ranks have windows of different sizes", WinContract::sizes);
    all.put("elements are combined atomically", WinContract::combining);
    all.put("pairs are combined atomically", WinContract::pairs);
    all.put("every predefined operation", WinContract::operations);
    all.put("compare and swap of every type", WinContract::swapping);
    all.put("an exclusive lock excludes", WinContract::exclusion);
    all.put("locks of all, and flushes", WinContract::flushes);
    all.put("groups post, start, complete and wait", WinContract::groups);
    all.put("shared memory is one piece", WinContract::shared);
    all.put("accesses outside of epochs are refused", WinContract::epochs);
    all.put("bad arguments of windows are named", WinContract::arguments);
    all.put("nobody has a window", WinContract::nobody);
    all.put("windows are made and freed", WinContract::many);
    all.put("threads access a window at once", WinContract::threads);
    all.put("a target that cannot access its memory says so", WinContract::closedMemory);
    all.put("accesses are waited for one by one", WinContract::requests);
    all.put("memory is attached and detached", WinContract::dynamic);
    all.put("an access that failed does not end another one", WinContract::failedBeforeLarge);
    all.put("random accesses have the outcome of a model", w -> random(w, 1, 4));
    return all;
  }

  static void random(Intracomm w, long seed, int programs) {
    for (int i = 0; i < programs; i++) {
      new RandomWindowProgram(seed + i, w).run();
    }
  }

  /** A window of ints of each kind, with its memory. */
  private static Win[] ofInts(Intracomm w, int count) {
    return new Win[] {
      Win.Create(new int[count], 0, count, MPI.INT, w), Win.Allocate(count, MPI.INT, w)
    };
  }

  private static void free(Win... windows) {
    for (Win window : windows) {
      window.Free();
    }
  }

  private static int[] read(Win window, int target, int count) {
    int[] got = new int[count];
    window.Lock(MPI.LOCK_SHARED, target, 0);
    window.Get(got, 0, count, MPI.INT, target, 0, count, MPI.INT);
    window.Unlock(target);
    return got;
  }

  private static void fences(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int[] array = new int[n + 2];
    Win created = Win.Create(array, 1, n, MPI.INT, w);
    Win allocated = Win.Allocate(n, MPI.INT, w);
    for (int round = 0; round < ROUNDS; round++) {
      for (Win window : new Win[] {created, allocated}) {
        window.Fence(0);
        for (int to = 0; to < n; to++) {
          int[] value = {1000 * round + 10 * me + to};
          window.Put(value, 0, 1, MPI.INT, to, me, 1, MPI.INT);
          value[0] = -1; // May be changed at once.
        }
        window.Fence(0);
        int[] all = new int[n];
        int from = (me + 1) % n;
        window.Get(all, 0, n, MPI.INT, from, 0, n, MPI.INT);
        window.Fence(MPI.MODE_NOSUCCEED);
        for (int i = 0; i < n; i++) {
          assertThat(all[i]).isEqualTo(1000 * round + 10 * i + from);
        }
      }
      for (int i = 0; i < n; i++) {
        int expected = 1000 * round + 10 * i + me;
        assertThat(array[1 + i]).isEqualTo(expected);
        assertThat(allocated.Segment().getAtIndex(ValueLayout.JAVA_INT, i)).isEqualTo(expected);
      }
      w.Barrier();
    }
    assertThat(array[0]).isZero();
    assertThat(array[n + 1]).isZero();
    free(created, allocated);
  }

  private static void memories(Intracomm w) {
    int to = (w.Rank() + 1) % w.Size();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment segment = arena.allocate(40);
      ByteBuffer direct = ByteBuffer.allocateDirect(40).order(ByteOrder.nativeOrder());
      ByteBuffer heap = ByteBuffer.allocate(40).order(ByteOrder.nativeOrder());
      int[] array = new int[10];
      Object[] memories = {segment, direct, heap, array, direct.asIntBuffer()};
      for (Object memory : memories) {
        Win window = Win.Create(memory, 2, 8, MPI.INT, w);
        window.Fence(0);
        window.Put(new int[] {0, 7, 8}, 1, 2, MPI.INT, to, 3, 2, MPI.INT);
        MemorySegment from = arena.allocate(8);
        from.setAtIndex(ValueLayout.JAVA_INT, 1, 9);
        window.Put(from, 1, 1, MPI.INT, to, 5, 1, MPI.INT);
        window.Fence(0);
        window.Free();
      }
      int[] expected = {0, 0, 0, 0, 0, 7, 8, 9, 0, 0};
      assertThat(array).isEqualTo(expected);
      for (int i = 0; i < 10; i++) {
        assertThat(segment.getAtIndex(ValueLayout.JAVA_INT, i)).isEqualTo(expected[i]);
        assertThat(direct.getInt(4 * i)).isEqualTo(expected[i]);
        assertThat(heap.getInt(4 * i)).isEqualTo(expected[i]);
      }
    }
  }

  private static void baseTypes(Intracomm w) {
    int to = (w.Rank() + 1) % w.Size();
    Object[] memories = {
      new byte[4],
      new char[4],
      new short[4],
      new boolean[4],
      new int[4],
      new long[4],
      new float[4],
      new double[4]
    };
    Object[] values = {
      new byte[] {1, -2},
      new char[] {'a', '\uffff'},
      new short[] {1, -2},
      new boolean[] {true, true},
      new int[] {1, -2},
      new long[] {1, Long.MIN_VALUE},
      new float[] {1.5f, -2},
      new double[] {1.5, -2}
    };
    Datatype[] types = {
      MPI.BYTE, MPI.CHAR, MPI.SHORT, MPI.BOOLEAN, MPI.INT, MPI.LONG, MPI.FLOAT, MPI.DOUBLE
    };
    for (int i = 0; i < types.length; i++) {
      Win created = Win.Create(memories[i], 0, 4, types[i], w);
      Win allocated = Win.Allocate(4, types[i], w);
      for (Win window : new Win[] {created, allocated}) {
        window.Fence(0);
        window.Put(values[i], 0, 2, types[i], to, 1, 2, types[i]);
        window.Fence(0);
        Object got = Array.newInstance(values[i].getClass().componentType(), 2);
        window.Get(got, 0, 2, types[i], to, 1, 2, types[i]);
        window.Fence(0);
        assertThat(Arrays.deepEquals(new Object[] {got}, new Object[] {values[i]}))
            .as(types[i].toString())
            .isTrue();
        window.Accumulate(values[i], 0, 2, types[i], to, 2, 2, types[i], MPI.REPLACE);
        window.Fence(0);
        window.Get(got, 0, 2, types[i], to, 2, 2, types[i]);
        window.Fence(0);
        assertThat(Arrays.deepEquals(new Object[] {got}, new Object[] {values[i]})).isTrue();
      }
      free(created, allocated);
    }
  }

  private static void large(Intracomm w) {
    int n = 300_000;
    int me = w.Rank();
    int to = (me + 1) % w.Size();
    int from = (me - 1 + w.Size()) % w.Size();
    Datatype every = Datatype.Vector(1000, 3, 5, MPI.INT);
    every.Commit();
    for (Win window : ofInts(w, n)) {
      int[] out = IntStream.range(0, n).map(i -> i * 31 + me).toArray();
      window.Fence(0);
      window.Put(out, 0, n, MPI.INT, to, 0, n, MPI.INT);
      window.Fence(0);
      int[] got = new int[n];
      window.Get(got, 0, n, MPI.INT, to, 0, n, MPI.INT);
      window.Fence(0);
      assertThat(got).isEqualTo(out);
      // 30,000 elements: dense to strided, and back from strided to strided.
      window.Accumulate(out, 0, 30_000, MPI.INT, to, 7, 10, every, MPI.SUM);
      window.Fence(0);
      int[] strided = new int[n];
      window.Get(strided, 3, 10, every, me, 7, 10, every);
      window.Fence(0);
      int k = 0;
      for (int block = 0; block < 10; block++) {
        for (int i = 0; i < 1000; i++) {
          for (int j = 0; j < 3; j++) {
            int place = block * every.Extent() + i * 5 + j;
            int expected = (7 + place) * 31 + from + (k++ * 31 + from);
            assertThat(strided[3 + place]).isEqualTo(expected);
          }
        }
      }
      window.Free();
    }
  }

  private static void bytes(Intracomm w) {
    int to = (w.Rank() + 1) % w.Size();
    for (Win window :
        new Win[] {
          Win.Create(new byte[100], 0, 100, MPI.BYTE, w), Win.Allocate(100, MPI.BYTE, w)
        }) {
      window.Fence(0);
      window.Put(new double[] {1.5, 2.5}, 0, 2, MPI.DOUBLE, to, 3, 2, MPI.DOUBLE);
      window.Put(new long[] {7}, 0, 1, MPI.LONG, to, 40, 1, MPI.LONG);
      window.Fence(0);
      window.Accumulate(new double[] {1, 2}, 0, 2, MPI.DOUBLE, to, 3, 2, MPI.DOUBLE, MPI.SUM);
      window.Accumulate(new long[] {3}, 0, 1, MPI.LONG, to, 40, 1, MPI.LONG, MPI.PROD);
      window.Fence(0);
      double[] doubles = new double[2];
      long[] longs = new long[1];
      window.Get(doubles, 0, 2, MPI.DOUBLE, to, 3, 2, MPI.DOUBLE);
      window.Get(longs, 0, 1, MPI.LONG, to, 40, 1, MPI.LONG);
      window.Fence(0);
      assertThat(doubles).containsExactly(2.5, 4.5);
      assertThat(longs).containsExactly(21);
      window.Free();
    }
  }

  private static void sizes(Intracomm w) {
    int me = w.Rank();
    int n = w.Size();
    Datatype pair = MPI.INT2;
    for (Win window :
        new Win[] {
          Win.Create(me == 0 ? null : new int[2 * me], 0, me, pair, w), Win.Allocate(me, pair, w)
        }) {
      window.Fence(0);
      for (int to = 1; to < n; to++) {
        if (me == 0) {
          window.Put(new int[] {to, -to}, 0, 1, pair, to, to - 1, 1, pair);
        }
      }
      assertThatThrownBy(() -> window.Put(new int[2], 0, 1, pair, 0, 0, 1, pair))
          .isInstanceOf(MPIException.class)
          .hasMessage("bytes 0 to 7 of the window of rank 0, which has 0");
      window.Fence(0);
      int last = n - 1;
      int[] got = new int[2];
      window.Get(got, 0, 1, pair, last, last - 1, 1, pair);
      window.Fence(0);
      assertThat(got).containsExactly(last, -last);
      window.Free();
    }
  }

  private static void combining(Intracomm w) {
    int n = w.Size();
    for (Win window : ofInts(w, 4)) {
      int[] fetched = new int[ROUNDS];
      int[] before = new int[3];
      window.Lock_all(0);
      for (int i = 0; i < ROUNDS; i++) {
        window.Fetch_and_op(new int[] {1}, 0, fetched, i, MPI.INT, 0, 1, MPI.SUM);
        window.Accumulate(new int[] {2, 3}, 0, 2, MPI.INT, 0, 2, 2, MPI.INT, MPI.SUM);
      }
      window.Get_accumulate(null, 0, 0, null, before, 0, 3, MPI.INT, 0, 1, 3, MPI.INT, MPI.NO_OP);
      window.Unlock_all();
      for (int i = 1; i < ROUNDS; i++) {
        assertThat(fetched[i]).isGreaterThan(fetched[i - 1]);
      }
      assertThat(before[0]).isBetween(ROUNDS, n * ROUNDS);
      assertThat(before[1]).isBetween(2 * ROUNDS, 2 * n * ROUNDS);
      int[] all = new int[n * ROUNDS];
      w.Allgather(fetched, 0, ROUNDS, MPI.INT, all, 0, ROUNDS, MPI.INT);
      Arrays.sort(all);
      assertThat(all).isEqualTo(IntStream.range(0, n * ROUNDS).toArray());
      assertThat(read(window, 0, 4)).containsExactly(0, n * ROUNDS, 2 * n * ROUNDS, 3 * n * ROUNDS);
      window.Free();
    }
  }

  private static void pairs(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    for (Win window :
        new Win[] {Win.Create(new int[2], 0, 1, MPI.INT2, w), Win.Allocate(1, MPI.INT2, w)}) {
      window.Lock_all(0);
      int[] old = new int[2];
      for (int i = 1; i <= ROUNDS; i++) {
        int value = i * n + me;
        window.Accumulate(new int[] {value, -value}, 0, 1, MPI.INT2, 0, 0, 1, MPI.INT2, MPI.MAXLOC);
        window.Fetch_and_op(null, 0, old, 0, MPI.INT2, 0, 0, MPI.NO_OP);
        window.Flush(0);
        assertThat(old[0]).isGreaterThanOrEqualTo(value);
        assertThat(old[1]).isEqualTo(-old[0]);
      }
      window.Unlock_all();
      w.Barrier();
      int most = ROUNDS * n + n - 1;
      int[] got = new int[2];
      window.Lock(MPI.LOCK_SHARED, 0, 0);
      window.Get(got, 0, 1, MPI.INT2, 0, 0, 1, MPI.INT2);
      window.Unlock(0);
      assertThat(got).containsExactly(most, -most);
      window.Free();
    }
  }

  private static void operations(Intracomm w) {
    int to = (w.Rank() + 1) % w.Size();
    Op[] ops = {MPI.MAX, MPI.MIN, MPI.SUM, MPI.PROD, MPI.BAND, MPI.BOR, MPI.BXOR, MPI.REPLACE};
    int[] bits = {12, 10, 22, 120, 8, 14, 6, 12};
    int[] floats = {12, 10, 22, 120, 0, 0, 0, 12};
    Op[] logical = {MPI.LAND, MPI.LOR, MPI.LXOR, MPI.BAND, MPI.BOR, MPI.BXOR};
    boolean[] truths = {false, true, true, false, true, true};
    Object[] tens = {
      new byte[] {10},
      new char[] {10},
      new short[] {10},
      new int[] {10},
      new long[] {10},
      new float[] {10},
      new double[] {10}
    };
    Object[] twelves = {
      new byte[] {12},
      new char[] {12},
      new short[] {12},
      new int[] {12},
      new long[] {12},
      new float[] {12},
      new double[] {12}
    };
    Datatype[] types = {MPI.BYTE, MPI.CHAR, MPI.SHORT, MPI.INT, MPI.LONG, MPI.FLOAT, MPI.DOUBLE};
    for (int t = 0; t < types.length; t++) {
      Datatype type = types[t];
      Object created = Array.newInstance(tens[t].getClass().componentType(), 3);
      for (Win window : new Win[] {Win.Create(created, 0, 3, type, w), Win.Allocate(3, type, w)}) {
        for (int i = 0; i < ops.length; i++) {
          Object old = Array.newInstance(tens[t].getClass().componentType(), 1);
          int expected = t < 5 ? bits[i] : floats[i];
          if (expected == 0) {
            Op bad = ops[i];
            window.Fence(0);
            assertThatThrownBy(() -> window.Accumulate(old, 0, 1, type, to, 1, 1, type, bad))
                .hasMessageContaining("is not defined for");
            continue;
          }
          window.Fence(0);
          window.Put(tens[t], 0, 1, type, to, 1, 1, type);
          window.Fence(0);
          window.Get_accumulate(twelves[t], 0, 1, type, old, 0, 1, type, to, 1, 1, type, ops[i]);
          window.Fence(0);
          assertThat(number(old)).isEqualTo(10);
          window.Get(old, 0, 1, type, to, 1, 1, type);
          window.Fence(0);
          assertThat(number(old)).as(type + " " + i).isEqualTo(expected);
        }
        window.Fence(0);
        window.Free();
      }
    }
    for (Win window :
        new Win[] {
          Win.Create(new boolean[3], 0, 3, MPI.BOOLEAN, w), Win.Allocate(3, MPI.BOOLEAN, w)
        }) {
      for (int i = 0; i < logical.length; i++) {
        boolean[] value = {true};
        window.Fence(0);
        window.Put(new boolean[] {false}, 0, 1, MPI.BOOLEAN, to, 1, 1, MPI.BOOLEAN);
        window.Fence(0);
        window.Accumulate(value, 0, 1, MPI.BOOLEAN, to, 1, 1, MPI.BOOLEAN, logical[i]);
        window.Fence(0);
        window.Get(value, 0, 1, MPI.BOOLEAN, to, 1, 1, MPI.BOOLEAN);
        window.Fence(0);
        assertThat(value[0]).as("" + i).isEqualTo(truths[i]);
      }
      window.Free();
    }
  }

  private static int number(Object array) {
    Object first = Array.get(array, 0);
    return first instanceof Character c ? c : ((Number) first).intValue();
  }

  /** Each rank takes tickets by compare and swap: none is taken twice. */
  private static void swapping(Intracomm w) {
    int n = w.Size();
    Datatype[] types = {MPI.BYTE, MPI.CHAR, MPI.SHORT, MPI.INT, MPI.LONG};
    Class<?>[] classes = {byte.class, char.class, short.class, int.class, long.class};
    for (int t = 0; t < types.length; t++) {
      Datatype type = types[t];
      Object memory = Array.newInstance(classes[t], 3);
      for (Win window : new Win[] {Win.Create(memory, 0, 3, type, w), Win.Allocate(3, type, w)}) {
        window.Lock_all(0);
        int taken = 0;
        Object expected = Array.newInstance(classes[t], 1);
        Object next = Array.newInstance(classes[t], 1);
        Object old = Array.newInstance(classes[t], 1);
        while (taken < 10) {
          int seen = number(expected);
          set(next, seen + 1);
          window.Compare_and_swap(next, 0, expected, 0, old, 0, type, 0, 1);
          window.Flush(0);
          if (number(old) == seen) {
            taken++;
          }
          set(expected, number(old) == seen ? seen + 1 : number(old));
        }
        window.Unlock_all();
        w.Barrier();
        window.Lock_all(0);
        window.Get(old, 0, 1, type, 0, 1, 1, type);
        window.Flush_local(0);
        assertThat(number(old)).isEqualTo(10 * n);
        window.Get(old, 0, 1, type, 0, 0, 1, type);
        window.Flush_local_all();
        assertThat(number(old)).isZero();
        window.Unlock_all();
        window.Free();
      }
    }
    boolean[] swapped = new boolean[1];
    Win flags = Win.Allocate(2, MPI.BOOLEAN, w);
    flags.Lock_all(0);
    flags.Compare_and_swap(
        new boolean[] {true}, 0, new boolean[1], 0, swapped, 0, MPI.BOOLEAN, 0, 1);
    flags.Unlock_all();
    int[] firsts = new int[1];
    w.Allreduce(new int[] {swapped[0] ? 0 : 1}, 0, firsts, 0, 1, MPI.INT, MPI.SUM);
    assertThat(firsts[0]).isEqualTo(1);
    flags.Free();
  }

  private static void set(Object array, int value) {
    switch (array) {
      case byte[] a -> a[0] = (byte) value;
      case char[] a -> a[0] = (char) value;
      case short[] a -> a[0] = (short) value;
      case int[] a -> a[0] = value;
      case long[] a -> a[0] = value;
      default -> throw new AssertionError(array);
    }
  }

  private static void exclusion(Intracomm w) {
    int n = w.Size();
    for (Win window : ofInts(w, 2)) {
      for (int i = 0; i < ROUNDS; i++) {
        int target = (i + w.Rank()) % 2;
        int[] value = new int[1];
        window.Lock(MPI.LOCK_EXCLUSIVE, target, 0);
        window.Get(value, 0, 1, MPI.INT, target, 1, 1, MPI.INT);
        window.Flush(target);
        value[0]++;
        window.Put(value, 0, 1, MPI.INT, target, 1, 1, MPI.INT);
        window.Unlock(target);
      }
      w.Barrier();
      assertThat(read(window, 0, 2)[1] + read(window, 1, 2)[1]).isEqualTo(n * ROUNDS);
      window.Free();
    }
  }

  private static void flushes(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    for (Win window : ofInts(w, n)) {
      window.Lock_all(MPI.MODE_NOCHECK);
      for (int to = 0; to < n; to++) {
        window.Put(new int[] {me + 1}, 0, 1, MPI.INT, to, me, 1, MPI.INT);
      }
      window.Flush_all();
      window.Sync();
      w.Barrier();
      int[] got = new int[n];
      window.Get(got, 0, n, MPI.INT, (me + 1) % n, 0, n, MPI.INT);
      window.Flush((me + 1) % n);
      assertThat(got).isEqualTo(IntStream.rangeClosed(1, n).toArray());
      window.Unlock_all();
      window.Free();
    }
  }

  private static void groups(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int right = (me + 1) % n;
    int left = (me - 1 + n) % n;
    Group toRight = w.Group().Incl(new int[] {right});
    Group toLeft = w.Group().Incl(new int[] {left});
    for (Win window : ofInts(w, 2)) {
      int[] got = new int[2];
      for (int i = 0; i < ROUNDS; i++) {
        window.Post(toLeft, 0);
        window.Start(toRight, 0);
        window.Put(new int[] {i, me}, 0, 2, MPI.INT, right, 0, 2, MPI.INT);
        window.Complete();
        if (i % 2 == 0) {
          window.Wait();
        } else {
          while (!window.Test()) {
            Thread.onSpinWait();
          }
        }
        window.Post(w.Group(), MPI.MODE_NOPUT);
        window.Start(w.Group(), 0);
        window.Get(got, 0, 2, MPI.INT, me, 0, 2, MPI.INT);
        window.Complete();
        window.Wait();
        assertThat(got).containsExactly(i, left);
      }
      window.Free();
    }
  }

  private static void shared(Intracomm w) {
    Intracomm host = w.Split_type(MPI.COMM_TYPE_SHARED, 0);
    int n = host.Size();
    int me = host.Rank();
    Win window = Win.Allocate_shared(3, MPI.INT, host);
    MemorySegment first = window.Shared_query(MPI.PROC_NULL);
    assertThat(first.address()).isEqualTo(window.Shared_query(0).address());
    for (int i = 0; i < n; i++) {
      MemorySegment part = window.Shared_query(i);
      assertThat(part.byteSize()).isEqualTo(12);
      assertThat(part.address()).isEqualTo(first.address() + 12L * i);
    }
    window.Fence(0);
    window.Segment().setAtIndex(ValueLayout.JAVA_INT, 2, me + 1);
    window.Fence(0);
    for (int i = 0; i < n; i++) {
      assertThat(window.Shared_query(i).getAtIndex(ValueLayout.JAVA_INT, 2)).isEqualTo(i + 1);
    }
    window.Fence(0);
    window.Accumulate(new int[] {5}, 0, 1, MPI.INT, (me + 1) % n, 2, 1, MPI.INT, MPI.SUM);
    window.Fence(0);
    assertThat(window.Segment().getAtIndex(ValueLayout.JAVA_INT, 2)).isEqualTo(me + 6);
    MemorySegment mine = window.Segment();
    window.Free();
    assertThatThrownBy(window::Segment).hasMessage("the window was freed");
    if (host.engine().device().name().contains("shmdev")) {
      assertThatThrownBy(() -> mine.get(ValueLayout.JAVA_BYTE, 0))
          .isInstanceOf(IllegalStateException.class);
    }
    if (n < w.Size()) {
      refused(
          () -> Win.Allocate_shared(1, MPI.INT, w),
          MPIException.ERR_RMA_SHARED,
          "Allocate_shared: this rank shares memory with " + n + " of the " + w.Size());
    }
    // Longs that are not at a multiple of their size.
    Win odd = Win.Allocate_shared(9, MPI.BYTE, host);
    long[] old = new long[1];
    odd.Lock_all(0);
    odd.Fetch_and_op(new long[] {1}, 0, old, 0, MPI.LONG, n - 1, 1, MPI.SUM);
    odd.Unlock_all();
    host.Barrier();
    odd.Lock_all(0);
    odd.Get(old, 0, 1, MPI.LONG, n - 1, 1, 1, MPI.LONG);
    odd.Unlock_all();
    assertThat(old[0]).isEqualTo(n);
    odd.Free();
    host.Free();
  }

  private static void refused(ThrowingCallable call, int errorClass, String text) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            MPIException.class, e -> assertThat(e.errorClass()).isEqualTo(errorClass))
        .hasMessageStartingWith(text);
  }

  private static void epochs(Intracomm w) {
    int sync = MPIException.ERR_RMA_SYNC;
    int[] a = new int[1];
    Group all = w.Group();
    for (Win window : ofInts(w, 1)) {
      ThrowingCallable put = () -> window.Put(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT);
      refused(
          put,
          sync,
          "Put to rank 1 outside of an epoch: call Fence, Start, Lock or Lock_all before");
      refused(() -> window.Unlock(1), sync, "Unlock of rank 1, which Lock has not locked");
      refused(window::Unlock_all, sync, "Unlock_all without Lock_all");
      refused(() -> window.Flush(1), sync, "Flush of rank 1, which is not locked");
      refused(window::Flush_all, sync, "Flush_all without a lock");
      refused(window::Complete, sync, "Complete without Start");
      refused(window::Wait, sync, "Wait without Post");
      refused(window::Test, sync, "Test without Post");
      window.Lock(MPI.LOCK_SHARED, 0, 0);
      refused(put, sync, "Put to rank 1 outside of an epoch");
      refused(() -> window.Lock(MPI.LOCK_SHARED, 0, 0), sync, "Lock of rank 0, which is locked");
      refused(() -> window.Fence(0), sync, "Fence while rank 0 is locked: call Unlock first");
      refused(() -> window.Lock_all(0), sync, "Lock_all while rank 0 is locked");
      refused(window::Free, sync, "Free while rank 0 is locked");
      refused(() -> window.Start(all, 0), sync, "Start while rank 0 is locked");
      window.Unlock(0);
      window.Fence(0);
      window.Put(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT);
      refused(() -> window.Lock(MPI.LOCK_SHARED, 0, 0), sync, "Lock after accesses that no Fence");
      refused(window::Free, sync, "Free after accesses that no Fence has ended: call Fence first");
      window.Fence(MPI.MODE_NOSUCCEED);
      refused(put, sync, "Put to rank 1 outside of an epoch");
      window.Post(all, 0);
      refused(() -> window.Post(all, 0), sync, "Post between Post and Wait");
      window.Start(all, 0);
      refused(() -> window.Start(all, 0), sync, "Start between Start and Complete");
      refused(() -> window.Fence(0), sync, "Fence between Start and Complete");
      window.Complete();
      refused(() -> window.Fence(0), sync, "Fence between Post and Wait");
      refused(window::Free, sync, "Free before the accesses of the last Post");
      window.Wait();
      // A fence without accesses begins no epoch.
      window.Fence(0);
      window.Lock(MPI.LOCK_SHARED, 0, 0);
      window.Unlock(0);
      window.Free();
      refused(() -> window.Fence(0), MPIException.ERR_WIN, "the window was freed");
      refused(window::Free, MPIException.ERR_WIN, "the window was freed");
    }
  }

  private static void arguments(Intracomm w) {
    int[] a = new int[4];
    Op own =
        new Op(
            new User_function() {
              @Override
              public void Call(Object in, int i, Object inout, int j, int count, Datatype type) {}
            },
            true);
    Win window = Win.Create(a, 0, 4, MPI.INT, w);
    window.Fence(0);
    refused(
        () -> window.Put(a, 0, 2, MPI.INT, 1, 3, 2, MPI.INT),
        MPIException.ERR_RMA_RANGE,
        "bytes 12 to 19 of the window of rank 1, which has 16");
    refused(
        () -> window.Put(a, 0, 1, MPI.INT, 1, -1, 1, MPI.INT),
        MPIException.ERR_DISP,
        "displacement -1: the window of rank 1 has 4 elements");
    refused(
        () -> window.Put(a, 3, 2, MPI.INT, 1, 0, 2, MPI.INT), MPIException.ERR_BUFFER, "offset 3");
    refused(
        () -> window.Put(a, 0, 1, MPI.INT, w.Size(), 0, 1, MPI.INT),
        MPIException.ERR_RANK,
        "target " + w.Size() + ": a rank from 0 to");
    refused(
        () -> window.Put(new float[1], 0, 1, MPI.FLOAT, 1, 0, 1, MPI.FLOAT),
        MPIException.ERR_TYPE,
        "target datatype FLOAT in a window of INT of rank 1");
    refused(
        () -> window.Put(new float[1], 0, 1, MPI.FLOAT, 1, 0, 1, MPI.INT),
        MPIException.ERR_TYPE,
        "datatype of FLOAT for a target of INT");
    refused(
        () -> window.Put(a, 0, 2, MPI.INT, 1, 0, 1, MPI.INT),
        MPIException.ERR_COUNT,
        "2 elements for a target of 1");
    refused(
        () -> window.Put(new Object[1], 0, 1, MPI.OBJECT, 1, 0, 1, MPI.OBJECT),
        MPIException.ERR_TYPE,
        "origin datatype OBJECT: a window takes primitive types");
    refused(
        () -> window.Accumulate(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT, own),
        MPIException.ERR_OP,
        "operation " + own.name() + ": a window takes predefined ones only");
    refused(
        () -> window.Accumulate(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT, MPI.NO_OP),
        MPIException.ERR_OP,
        "NO_OP is for Get_accumulate and Fetch_and_op only");
    refused(
        () -> window.Compare_and_swap(a, 0, a, 0, a, 0, MPI.INT2, 1, 0),
        MPIException.ERR_TYPE,
        "Compare_and_swap with datatype INT2");
    refused(() -> window.Fence(1024), MPIException.ERR_ASSERT, "assertion 1024");
    refused(() -> window.Lock(3, 0, 0), MPIException.ERR_LOCKTYPE, "lock type 3");
    refused(window::Segment, MPIException.ERR_WIN, "the window was made by Create");
    refused(
        () -> window.Shared_query(0),
        MPIException.ERR_RMA_SHARED,
        "the window was not made by Allocate_shared");
    refused(
        () -> w.Allreduce(a, 0, new int[4], 0, 4, MPI.INT, MPI.REPLACE),
        MPIException.ERR_OP,
        "REPLACE is not defined for INT elements");
    window.Fence(0);
    window.Free();
    refused(
        () -> Win.Create(new Object[1], 0, 1, MPI.OBJECT, w), MPIException.ERR_TYPE, "datatype");
    refused(() -> Win.Create(a, 2, 3, MPI.INT, w), MPIException.ERR_BUFFER, "offset 2");
    refused(() -> Win.Allocate(-1, MPI.INT, w), MPIException.ERR_COUNT, "count -1");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment confined = arena.allocate(8);
      refused(
          () -> Win.Create(confined, 0, 2, MPI.INT, w),
          MPIException.ERR_BUFFER,
          "the window's memory is of a confined arena");
    }
    ByteBuffer fixed = ByteBuffer.allocateDirect(8).asReadOnlyBuffer();
    refused(
        () -> Win.Create(fixed, 0, 8, MPI.BYTE, w),
        MPIException.ERR_BUFFER,
        "the window's memory is read-only");
  }

  private static void nobody(Intracomm w) {
    int[] a = {5};
    Win window = Win.Allocate(1, MPI.INT, w);
    window.Fence(0);
    window.Put(a, 0, 1, MPI.INT, MPI.PROC_NULL, 7, 1, MPI.INT);
    window.Get(a, 0, 1, MPI.INT, MPI.PROC_NULL, 7, 1, MPI.INT);
    window.Accumulate(a, 0, 1, MPI.INT, MPI.PROC_NULL, 7, 1, MPI.INT, MPI.SUM);
    window.Fetch_and_op(a, 0, a, 0, MPI.INT, MPI.PROC_NULL, 7, MPI.SUM);
    window.Put(a, 0, 0, MPI.INT, 1, 1, 0, MPI.INT);
    window.Get(a, 0, 0, MPI.INT, 1, 0, 0, MPI.INT);
    window.Accumulate(a, 0, 0, MPI.INT, 1, 0, 0, MPI.INT, MPI.SUM);
    window.Fence(0);
    window.Lock(MPI.LOCK_SHARED, MPI.PROC_NULL, 0);
    window.Unlock(MPI.PROC_NULL);
    window.Free();
    assertThat(a[0]).isEqualTo(5);
  }

  private static void many(Intracomm w) {
    int to = (w.Rank() + 1) % w.Size();
    for (int i = 0; i < 20; i++) {
      Win[] windows = ofInts(w, i + 1);
      Intracomm half = w.Split(w.Rank() % 2, 0);
      Win within = Win.Allocate(1, MPI.INT, half);
      for (Win window : windows) {
        window.Lock(MPI.LOCK_EXCLUSIVE, to, 0);
        window.Put(new int[] {i}, 0, 1, MPI.INT, to, i, 1, MPI.INT);
        window.Unlock(to);
      }
      within.Fence(0);
      within.Accumulate(new int[] {1}, 0, 1, MPI.INT, 0, 0, 1, MPI.INT, MPI.SUM);
      within.Fence(0);
      if (half.Rank() == 0) {
        assertThat(within.Segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(half.Size());
      }
      w.Barrier();
      assertThat(windows[1].Segment().getAtIndex(ValueLayout.JAVA_INT, i)).isEqualTo(i);
      within.Free();
      half.Free();
      free(windows[1], windows[0]);
    }
  }

  private static void threads(Intracomm w) throws Exception {
    int threads = 3;
    for (Win window : ofInts(w, 1)) {
      Throwable[] failure = new Throwable[1];
      Thread[] all = new Thread[threads];
      window.Lock_all(0);
      for (int t = 0; t < threads; t++) {
        Thread.Builder builder = t == 0 ? Thread.ofVirtual() : Thread.ofPlatform();
        all[t] =
            builder.start(
                () -> {
                  try {
                    int[] old = new int[1];
                    int last = -1;
                    for (int i = 0; i < ROUNDS; i++) {
                      window.Fetch_and_op(new int[] {1}, 0, old, 0, MPI.INT, 0, 0, MPI.SUM);
                      window.Flush(0);
                      assertThat(old[0]).isGreaterThan(last);
                      last = old[0];
                    }
                  } catch (Throwable e) {
                    failure[0] = e;
                  }
                });
      }
      for (Thread thread : all) {
        thread.join();
      }
      window.Unlock_all();
      if (failure[0] != null) {
        throw new AssertionError(failure[0]);
      }
      w.Barrier();
      assertThat(read(window, 0, 1)[0]).isEqualTo(w.Size() * threads * ROUNDS);
      window.Free();
    }
  }

  private static void closedMemory(Intracomm w) {
    Arena arena = Arena.ofShared();
    Win window = Win.Create(arena.allocate(8), 0, 2, MPI.INT, w);
    if (w.Rank() == 0) {
      arena.close();
    }
    w.Barrier();
    if (w.Rank() == 1) {
      int[] a = new int[1];
      String text = "rank 0 cannot access its window: ";
      window.Lock(MPI.LOCK_SHARED, 0, 0);
      window.Put(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT);
      refused(() -> window.Flush(0), MPIException.ERR_BUFFER, text);
      window.Get(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT);
      refused(() -> window.Unlock(0), MPIException.ERR_BUFFER, text);
    }
    window.Fence(0);
    window.Free();
    if (w.Rank() != 0) {
      arena.close();
    }
  }

  private static void requests(Intracomm w) {
    int n = 100_000;
    for (Win window : ofInts(w, n)) {
      int[] mine = new int[n];
      Arrays.setAll(mine, i -> 1000 * w.Rank() + i);
      window.Lock_all(0);
      window.Rput(mine, 0, n, MPI.INT, w.Rank(), 0, n, MPI.INT).Wait();
      window.Flush_all();
      w.Barrier();
      int[][] got = new int[w.Size()][n];
      Request[] requests = new Request[w.Size()];
      for (int i = 0; i < w.Size(); i++) {
        requests[i] = window.Rget(got[i], 0, n, MPI.INT, i, 0, n, MPI.INT);
      }
      for (int left = w.Size(); left > 0; left--) {
        int i = Request.Waitany(requests).index;
        for (int k = 0; k < n; k++) {
          assertThat(got[i][k]).isEqualTo(1000 * i + k);
        }
      }
      assertThat(Request.Waitany(requests).index).isEqualTo(MPI.UNDEFINED);
      w.Barrier();
      int[] old = new int[2];
      int[] one = {1, 1};
      Request sum = window.Raccumulate(one, 0, 2, MPI.INT, 0, 0, 2, MPI.INT, MPI.SUM);
      Request last =
          window.Rget_accumulate(one, 0, 2, MPI.INT, old, 0, 2, MPI.INT, 0, 0, 2, MPI.INT, MPI.SUM);
      while (last.Test() == null) {
        Thread.onSpinWait();
      }
      sum.Wait();
      // This rank's other access came first: messages of a rank are served in order.
      assertThat(old[0]).isBetween(1, 2 * w.Size() - 1);
      assertThat(old[1]).isBetween(2, 2 * w.Size());
      window.Unlock_all();
      w.Barrier();
      assertThat(read(window, 0, 2)).containsExactly(2 * w.Size(), 2 * w.Size() + 1);
      notOutsideOfLocks(window);
      window.Free();
    }
  }

  private static void notOutsideOfLocks(Win window) {
    int sync = MPIException.ERR_RMA_SYNC;
    int[] a = new int[1];
    window.Fence(0);
    String text = " to rank 1, which is not locked: call Lock or Lock_all before";
    refused(() -> window.Rput(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT), sync, "Rput" + text);
    refused(() -> window.Rget(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT), sync, "Rget" + text);
    window.Fence(MPI.MODE_NOSUCCEED);
    window.Lock(MPI.LOCK_SHARED, 1, 0);
    assertThat(window.Rput(a, 0, 1, MPI.INT, MPI.PROC_NULL, 0, 1, MPI.INT).Test()).isNotNull();
    Request get = window.Rget(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT);
    if (get.getClass() != Request.class) {
      int bad = MPIException.ERR_REQUEST;
      refused(get::Cancel, bad, "Cancel of an access that was started: wait for it");
      refused(get::Free, bad, "Free of an access that was started: wait for it");
    }
    window.Unlock(1);
    get.Wait();
  }

  private static void failedBeforeLarge(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int next = (me + 1) % n;
    int size = 5 << 20; // More than may be under way.
    byte[] memory = new byte[size];
    Win window = Win.Create_dynamic(w);
    long[] mine = {window.Attach(memory, 0, size, MPI.BYTE)};
    long[] all = new long[n];
    w.Allgather(mine, 0, 1, MPI.LONG, all, 0, 1, MPI.LONG);
    byte[] data = new byte[size];
    Arrays.fill(data, (byte) (me + 1));
    window.Lock(MPI.LOCK_SHARED, next, 0);
    window.Put(data, 0, 1, MPI.BYTE, next, 0, 1, MPI.BYTE);
    window.Put(data, 0, size, MPI.BYTE, next, all[next], size, MPI.BYTE);
    refused(
        () -> window.Flush(next),
        MPIException.ERR_RMA_RANGE,
        "bytes 0 to 0 of the window of rank " + next + ", where no memory is attached");
    window.Unlock(next);
    w.Barrier();
    byte[] expected = new byte[size];
    Arrays.fill(expected, (byte) ((me + n - 1) % n + 1));
    assertThat(memory).isEqualTo(expected);
    window.Free();
  }

  private static void dynamic(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int next = (me + 1) % n;
    double[] numbers = {0, 0.5, 1.5, 2.5, 0};
    byte[] bytes = new byte[11];
    Win window = Win.Create_dynamic(w);
    long[] mine = {window.Attach(numbers, 1, 3, MPI.DOUBLE), window.Attach(bytes, 0, 11, MPI.BYTE)};
    long[] all = new long[2 * n];
    w.Allgather(mine, 0, 2, MPI.LONG, all, 0, 2, MPI.LONG);
    double[] got = new double[3];
    window.Lock(MPI.LOCK_EXCLUSIVE, next, 0);
    window.Get(got, 0, 3, MPI.DOUBLE, next, all[2 * next], 3, MPI.DOUBLE);
    window.Flush(next);
    assertThat(got).containsExactly(0.5, 1.5, 2.5);
    window.Accumulate(
        new double[] {me + 1}, 0, 1, MPI.DOUBLE, next, all[2 * next] + 8, 1, MPI.DOUBLE, MPI.SUM);
    // At an odd address.
    window.Put(new int[] {me}, 0, 1, MPI.INT, next, all[2 * next + 1] + 3, 1, MPI.INT);
    int[] old = new int[1];
    window.Compare_and_swap(
        new int[] {-5}, 0, new int[] {me}, 0, old, 0, MPI.INT, next, all[2 * next + 1] + 3);
    window.Unlock(next);
    assertThat(old[0]).isEqualTo(me);
    int range = MPIException.ERR_RMA_RANGE;
    window.Lock(MPI.LOCK_SHARED, next, 0);
    String text = " of the window of rank " + next + ", where no memory is attached";
    for (long bad : new long[] {0, all[2 * next] + 16, all[2 * next + 1] + 11}) {
      refused(
          () -> {
            window.Get(got, 0, 2, MPI.DOUBLE, next, bad, 2, MPI.DOUBLE);
            window.Flush(next);
          },
          range,
          "bytes " + bad + " to " + (bad + 15) + text);
      refused(
          () -> window.Rget(got, 0, 2, MPI.DOUBLE, next, bad, 2, MPI.DOUBLE).Wait(),
          range,
          "bytes " + bad + " to " + (bad + 15) + text);
    }
    int many = 100_000; // They come in several messages, each of which fails.
    double[] large = new double[many];
    refused(
        () -> window.Rget(large, 0, many, MPI.DOUBLE, next, 0, many, MPI.DOUBLE).Wait(),
        range,
        "bytes 0 to 799999" + text);
    window.Flush(next); // Its request has told.
    window.Unlock(next);
    w.Barrier();
    int before = (me + n - 1) % n;
    assertThat(numbers).containsExactly(0, 0.5, 2.5 + before, 2.5, 0);
    assertThat(ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt(3)).isEqualTo(-5);
    window.Detach(mine[0]);
    refused(
        () -> window.Detach(mine[0]),
        MPIException.ERR_RMA_ATTACH,
        "Detach of displacement " + mine[0] + ", where no memory is attached");
    w.Barrier();
    window.Lock(MPI.LOCK_SHARED, next, 0);
    refused(
        () -> {
          window.Put(got, 0, 1, MPI.DOUBLE, next, all[2 * next], 1, MPI.DOUBLE);
          window.Flush(next);
        },
        range,
        "bytes " + all[2 * next] + " to " + (all[2 * next] + 7) + text);
    window.Unlock(next);
    refused(
        () -> window.Attach(new boolean[1], 0, 1, MPI.BOOLEAN),
        MPIException.ERR_TYPE,
        "datatype BOOLEAN: memory of booleans cannot be attached");
    Win other = Win.Create(bytes, 0, 11, MPI.BYTE, w);
    refused(
        () -> other.Attach(bytes, 0, 11, MPI.BYTE),
        MPIException.ERR_RMA_ATTACH,
        "Attach: the window was not made by Create_dynamic");
    free(window, other);
  }
}
