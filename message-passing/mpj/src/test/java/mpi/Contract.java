// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** What every device must do: programs for any number of ranks from 2, with their assertions. */
final class Contract {
  private static final int TAG = 7;

  /** Whether all tests are run, at length. */
  private static final boolean LONG = Integer.getInteger("talaria.test.rounds", 150) >= 150;

  /** More than the credit of any rank allows. */
  private static final int FLOOD = LONG ? 50_000 : 10_000;

  private static final int FLOOD_INTS = 32;

  private Contract() {}

  /** All of them by name, in order. */
  static Map<String, Variant.Body> all() {
    Map<String, Variant.Body> all = new LinkedHashMap<>();
    all.put("messages of all sizes arrive in order", Contract::order);
    all.put("wildcards take from each source in order", Contract::wildcards);
    all.put("posted wildcards and posted sources go by post order", Contract::postOrder);
    all.put("a probed message is received by its probe's answer", Contract::probe);
    all.put("matched probes of threads share messages out", Contract::matchedProbe);
    all.put("a synchronous send ends after its receive began", Contract::synchronous);
    all.put("buffered sends need their buffer", Contract::buffered);
    all.put("a cancelled receive takes nothing", Contract::cancelReceive);
    all.put("a send can be cancelled before it is matched", Contract::cancelSend);
    all.put("truncation leaves the next message whole", Contract::truncation);
    all.put("another base type is refused", Contract::typeMismatch);
    all.put("all base types, offsets and zero bytes", Contract::baseTypes);
    all.put("segments and byte buffers stand for arrays", Contract::segments);
    all.put("large segments move whole, in part, early and late", Contract::largeSegments);
    all.put("messages to oneself", Contract::self);
    all.put("messages to nobody", Contract::nobody);
    all.put("ten thousand requests are under way", Contract::outstanding);
    all.put("persistent requests are started again", Contract::persistent);
    all.put("persistent buffered sends keep their arguments", Contract::persistentBuffered);
    all.put("persistent requests are null once they are freed", Contract::nullRequests);
    all.put("large messages cross", Contract::crossing);
    all.put("a flood is held back, and its last message can be first", Contract::flood);
    all.put("strided types", Contract::strided);
    all.put("objects", Contract::objects);
    all.put("threads with tags of their own", Contract::threads);
    all.put("virtual threads wait", w -> virtualThreads(w, 300));
    all.put("a failure among several requests hides no others", Contract::someFail);
    all.put("a failure among all requests hides no others", Contract::allFail);
    all.put("any and some of several requests", Contract::anyAndSome);
    all.put("requests that are over from the start hold up no others", Contract::overFromTheStart);
    all.put("communicators do not mix", Contract::communicators);
    all.put("communicators made by threads at once", Contract::communicatorsByThreads);
    all.put("inter-communicators", Contract::interCommunicators);
    all.put("messages do not meet Merge and clone", Contract::messagesDoNotMeetMerge);
    all.put("grids and graphs", Contract::topologies);
    all.put("bad arguments are named", Contract::badArguments);
    all.put("a refused exchange takes no message", Contract::refusedExchange);
    all.put("types without elements, and with some twice", Contract::oddTypes);
    all.put("buffers of the other byte order are refused", Contract::byteOrders);
    all.put("random programs have a legal outcome", Contract::randomProgram);
    return all;
  }

  private static int[] filled(int length, int first) {
    int[] a = new int[length];
    for (int i = 0; i < length; i++) {
      a[i] = first + i;
    }
    return a;
  }

  private static int length(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> random.nextInt(16);
      case 2 -> random.nextInt(4096);
      default -> random.nextInt(40_000);
    };
  }

  private static void order(Intracomm w) {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() - 1 + n) % n;
    Random out = new Random(w.Rank());
    Random in = new Random(from);
    for (int i = 0; i < 200; i++) {
      int[] data = filled(length(out), i);
      Request send = w.Isend(data, 0, data.length, MPI.INT, to, TAG);
      int expected = length(in);
      int[] got = new int[expected + 3];
      Status status = w.Recv(got, 1, expected + 1, MPI.INT, from, TAG);
      send.Wait();
      assertThat(status.Get_count(MPI.INT)).isEqualTo(expected);
      assertThat(status.source).isEqualTo(from);
      assertThat(Arrays.copyOfRange(got, 1, 1 + expected)).isEqualTo(filled(expected, i));
    }
    // Everything is sent before anything is received.
    int[][] data = new int[50][];
    Request[] sends = new Request[50];
    for (int i = 0; i < 50; i++) {
      data[i] = filled(i % 2 == 0 ? 10 : 20_000, i);
      sends[i] = w.Isend(data[i], 0, data[i].length, MPI.INT, to, TAG);
    }
    for (int i = 0; i < 50; i++) {
      int[] got = new int[20_000];
      Status status = w.Recv(got, 0, got.length, MPI.INT, from, MPI.ANY_TAG);
      assertThat(Arrays.copyOf(got, status.Get_count(MPI.INT))).isEqualTo(data[i]);
    }
    Request.Waitall(sends);
    w.Barrier();
  }

  private static void wildcards(Intracomm w) {
    int messages = 300;
    if (w.Rank() == 0) {
      int[] next = new int[w.Size()];
      for (int i = 0; i < messages * (w.Size() - 1); i++) {
        int[] got = new int[6000];
        Status status = w.Recv(got, 0, got.length, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
        assertThat(got[0]).isEqualTo(next[status.source]);
        assertThat(status.tag).isEqualTo(next[status.source] % 5);
        next[status.source]++;
      }
    } else {
      for (int i = 0; i < messages; i++) {
        int[] data = new int[i % 7 == 0 ? 5000 : 1];
        data[0] = i;
        w.Send(data, 0, data.length, MPI.INT, 0, i % 5);
      }
    }
    w.Barrier();
  }

  private static void postOrder(Intracomm w) {
    if (w.Rank() == 0) {
      int[] any = new int[1];
      int[] named = new int[1];
      Request first = w.Irecv(any, 0, 1, MPI.INT, MPI.ANY_SOURCE, TAG);
      Request second = w.Irecv(named, 0, 1, MPI.INT, 1, TAG);
      w.Send(new int[1], 0, 1, MPI.INT, 1, 1);
      first.Wait();
      second.Wait();
      assertThat(any[0]).isEqualTo(1);
      assertThat(named[0]).isEqualTo(2);
      second = w.Irecv(named, 0, 1, MPI.INT, 1, TAG);
      first = w.Irecv(any, 0, 1, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
      w.Send(new int[1], 0, 1, MPI.INT, 1, 1);
      Request.Waitall(new Request[] {first, second});
      assertThat(named[0]).isEqualTo(1);
      assertThat(any[0]).isEqualTo(2);
    } else if (w.Rank() == 1) {
      for (int round = 0; round < 2; round++) {
        w.Recv(new int[1], 0, 1, MPI.INT, 0, 1);
        w.Send(new int[] {1}, 0, 1, MPI.INT, 0, TAG);
        w.Send(new int[] {2}, 0, 1, MPI.INT, 0, TAG);
      }
    }
    w.Barrier();
  }

  private static void probe(Intracomm w) {
    int[] sizes = {0, 1, 100, 30_000};
    if (w.Rank() == 1) {
      for (int size : sizes) {
        w.Send(filled(size, size), 0, size, MPI.INT, 0, size);
      }
    } else if (w.Rank() == 0) {
      for (int size : sizes) {
        Status status = w.Probe(1, MPI.ANY_TAG);
        assertThat(status.tag).isEqualTo(size);
        int count = status.Get_count(MPI.INT);
        assertThat(count).isEqualTo(size);
        int[] got = new int[count];
        w.Recv(got, 0, count, MPI.INT, status.source, status.tag);
        assertThat(got).isEqualTo(filled(size, size));
      }
      assertThat(w.Iprobe(1, MPI.ANY_TAG)).isNull();
    }
    w.Barrier();
  }

  private static void matchedProbe(Intracomm w) throws Exception {
    int messages = 200;
    if (w.Rank() == 0) {
      AtomicInteger sum = new AtomicInteger();
      inThreads(
          4,
          t -> {
            for (int i = 0; i < messages / 4; i++) {
              Message message = w.Mprobe(1, TAG);
              int count = message.Status().Get_count(MPI.INT);
              int[] got = new int[count];
              message.Recv(got, 0, count, MPI.INT);
              assertThat(count).isEqualTo(got[0] % 2 == 0 ? 1 : 9000);
              sum.addAndGet(got[0]);
            }
          });
      assertThat(sum.get()).isEqualTo(messages * (messages - 1) / 2);
    } else if (w.Rank() == 1) {
      for (int i = 0; i < messages; i++) {
        int count = i % 2 == 0 ? 1 : 9000;
        int[] data = new int[count];
        data[0] = i;
        w.Send(data, 0, count, MPI.INT, 0, TAG);
      }
    }
    w.Barrier();
  }

  private interface Work {
    void run(int thread) throws Exception;
  }

  private static void inThreads(int count, Work work) throws Exception {
    Thread[] threads = new Thread[count];
    Throwable[] failures = new Throwable[count];
    for (int i = 0; i < count; i++) {
      int number = i;
      threads[i] =
          new Thread(
              () -> {
                try {
                  work.run(number);
                } catch (Throwable t) {
                  failures[number] = t;
                }
              });
      threads[i].setDaemon(true);
      threads[i].start();
    }
    for (int i = 0; i < count; i++) {
      threads[i].join();
      if (failures[i] != null) {
        throw new AssertionError(failures[i]);
      }
    }
  }

  private static void synchronous(Intracomm w) {
    for (int size : new int[] {0, 1, 50_000}) {
      if (w.Rank() == 0) {
        Request send = w.Issend(new int[size], 0, size, MPI.INT, 1, TAG);
        // Rank 1 answers this before it posts the receive: so the send cannot be over.
        w.Sendrecv(new int[1], 0, 1, MPI.INT, 1, 1, new int[1], 0, 1, MPI.INT, 1, 1);
        assertThat(send.Test()).isNull();
        w.Send(new int[1], 0, 1, MPI.INT, 1, 2);
        send.Wait();
        w.Ssend(new int[size], 0, size, MPI.INT, 1, TAG);
      } else if (w.Rank() == 1) {
        w.Sendrecv(new int[1], 0, 1, MPI.INT, 0, 1, new int[1], 0, 1, MPI.INT, 0, 1);
        w.Recv(new int[1], 0, 1, MPI.INT, 0, 2);
        w.Recv(new int[size], 0, size, MPI.INT, 0, TAG);
        w.Recv(new int[size], 0, size, MPI.INT, 0, TAG);
      }
    }
    w.Barrier();
  }

  private static void buffered(Intracomm w) {
    BufferedSends sends = w.world().buffered();
    sends.attach(new byte[100_000], 100_000);
    if (w.Rank() == 0) {
      int[] data = filled(10_000, 1);
      w.Bsend(data, 0, data.length, MPI.INT, 1, TAG);
      Arrays.fill(data, -1);
      assertThatThrownBy(() -> w.Bsend(new int[24_000], 0, 24_000, MPI.INT, 1, TAG))
          .isInstanceOf(MPIException.class)
          .hasMessageContaining("of 100000 attached");
      w.Send(data, 0, 1, MPI.INT, 1, 1);
    } else if (w.Rank() == 1) {
      w.Recv(new int[1], 0, 1, MPI.INT, 0, 1);
      int[] got = new int[10_000];
      w.Recv(got, 0, got.length, MPI.INT, 0, TAG);
      assertThat(got).isEqualTo(filled(10_000, 1));
    }
    assertThat(sends.detach()).isNotNull();
    w.Barrier();
  }

  private static void cancelReceive(Intracomm w) {
    int rounds = 500;
    if (w.Rank() == 0) {
      for (int i = 0; i < rounds; i++) {
        int[] got = {-1};
        Request receive = w.Irecv(got, 0, 1, MPI.INT, 1, TAG);
        w.Send(new int[1], 0, 1, MPI.INT, 1, 1);
        receive.Cancel();
        Status status = receive.Wait();
        if (status.Test_cancelled()) {
          assertThat(got[0]).isEqualTo(-1);
          w.Recv(got, 0, 1, MPI.INT, 1, TAG);
        }
        assertThat(got[0]).isEqualTo(i);
      }
    } else if (w.Rank() == 1) {
      for (int i = 0; i < rounds; i++) {
        w.Recv(new int[1], 0, 1, MPI.INT, 0, 1);
        w.Send(new int[] {i}, 0, 1, MPI.INT, 0, TAG);
      }
    }
    w.Barrier();
  }

  private static void cancelSend(Intracomm w) {
    for (int size : new int[] {1, 50_000}) {
      if (w.Rank() == 0) {
        Request send = w.Issend(new int[size], 0, size, MPI.INT, 1, TAG);
        send.Cancel();
        // Rank 1 is in a receive, and so makes progress.
        Status status = send.Wait();
        assertThat(status.Test_cancelled()).isTrue();
        Request toSelf = w.Issend(new int[size], 0, size, MPI.INT, 0, TAG);
        toSelf.Cancel();
        assertThat(toSelf.Wait().Test_cancelled()).isTrue();
        w.Send(new int[] {5}, 0, 1, MPI.INT, 1, 1);
      } else if (w.Rank() == 1) {
        w.Recv(new int[1], 0, 1, MPI.INT, 0, 1);
        assertThat(w.Iprobe(0, TAG)).isNull();
      }
      // The next send of rank 0 must not be here before rank 1 has looked.
      w.Barrier();
    }
  }

  private static void truncation(Intracomm w) {
    for (int size : new int[] {10, 50_000}) {
      if (w.Rank() == 0) {
        w.Send(filled(size, 0), 0, size, MPI.INT, 1, TAG);
        w.Send(filled(size, 1), 0, size, MPI.INT, 1, TAG);
      } else if (w.Rank() == 1) {
        int[] got = new int[size];
        assertThatThrownBy(() -> w.Recv(got, 0, size / 2, MPI.INT, 0, TAG))
            .isInstanceOfSatisfying(
                MPIException.class,
                e -> assertThat(e.errorClass()).isEqualTo(MPIException.ERR_TRUNCATE))
            .hasMessage(
                "message of " + size * 4 + " bytes for a receive of " + size / 2 * 4 + " bytes");
        assertThat(Arrays.copyOf(got, size / 2)).isEqualTo(filled(size / 2, 0));
        assertThat(got[size / 2]).isZero();
        w.Recv(got, 0, size, MPI.INT, 0, TAG);
        assertThat(got).isEqualTo(filled(size, 1));
      }
    }
    w.Barrier();
  }

  private static void typeMismatch(Intracomm w) {
    for (int size : new int[] {10, 50_000}) {
      if (w.Rank() == 0) {
        w.Send(new int[size], 0, size, MPI.INT, 1, TAG);
        w.Send(filled(size, 1), 0, size, MPI.INT, 1, TAG);
      } else if (w.Rank() == 1) {
        assertThatThrownBy(() -> w.Recv(new float[size], 0, size, MPI.FLOAT, 0, TAG))
            .hasMessage("message of INT for a receive of FLOAT");
        int[] got = new int[size];
        w.Recv(got, 0, size, MPI.INT, 0, TAG);
        assertThat(got).isEqualTo(filled(size, 1));
      }
    }
    w.Barrier();
  }

  private static void baseTypes(Intracomm w) {
    for (int size : new int[] {0, 1, 5, 3000, 30_001}) {
      Random random = new Random(size);
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      char[] chars = new char[size];
      short[] shorts = new short[size];
      boolean[] booleans = new boolean[size];
      long[] longs = new long[size];
      float[] floats = new float[size];
      double[] doubles = new double[size];
      for (int i = 0; i < size; i++) {
        chars[i] = (char) random.nextInt();
        shorts[i] = (short) random.nextInt();
        booleans[i] = random.nextBoolean();
        longs[i] = random.nextLong();
        floats[i] = random.nextFloat();
        doubles[i] = random.nextDouble();
      }
      exchange(w, bytes, new byte[size + 2], size, MPI.BYTE);
      exchange(w, chars, new char[size + 2], size, MPI.CHAR);
      exchange(w, shorts, new short[size + 2], size, MPI.SHORT);
      exchange(w, booleans, new boolean[size + 2], size, MPI.BOOLEAN);
      exchange(w, longs, new long[size + 2], size, MPI.LONG);
      exchange(w, floats, new float[size + 2], size, MPI.FLOAT);
      exchange(w, doubles, new double[size + 2], size, MPI.DOUBLE);
    }
    w.Barrier();
  }

  /**
   * Every rank has the same data; the first and the last element of what comes stay as they are.
   */
  private static void exchange(Intracomm w, Object data, Object got, int size, Datatype type) {
    int n = w.Size();
    w.Sendrecv(
        data,
        0,
        size,
        type,
        (w.Rank() + 1) % n,
        TAG,
        got,
        1,
        size,
        type,
        (w.Rank() + n - 1) % n,
        TAG);
    Object expected = type.layout().base().newArray(size + 2);
    System.arraycopy(data, 0, expected, 1, size);
    assertThat(Arrays.deepEquals(new Object[] {got}, new Object[] {expected}))
        .as("%s elements of %s", size, type)
        .isTrue();
  }

  private static void segments(Intracomm w) {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    for (int size : new int[] {3, 100_000}) {
      try (Arena arena = Arena.ofShared()) {
        MemorySegment out = arena.allocate(size * 8L, 8);
        MemorySegment in = arena.allocate(size * 8L, 8);
        for (int i = 0; i < size; i++) {
          out.setAtIndex(ValueLayout.JAVA_DOUBLE, i, i + 0.5);
        }
        w.Sendrecv(out, 0, size, MPI.DOUBLE, to, TAG, in, 0, size, MPI.DOUBLE, from, TAG);
        assertThat(in.mismatch(out)).isEqualTo(-1);
        double[] array = new double[size];
        w.Sendrecv(out, 0, size, MPI.DOUBLE, to, TAG, array, 0, size, MPI.DOUBLE, from, TAG);
        assertThat(array[size - 1]).isEqualTo(size - 0.5);
        ByteBuffer buffer = ByteBuffer.allocateDirect(size);
        byte[] bytes = new byte[size];
        Arrays.fill(bytes, (byte) 9);
        w.Sendrecv(bytes, 0, size, MPI.BYTE, to, TAG, buffer, 0, size, MPI.BYTE, from, TAG);
        assertThat(buffer.get(size - 1)).isEqualTo((byte) 9);
      }
    }
    w.Barrier();
  }

  private static MemorySegment numbers(Arena arena, int bytes, int first) {
    MemorySegment segment = arena.allocate(bytes, 8);
    for (int i = 0; i < bytes; i++) {
      segment.set(ValueLayout.JAVA_BYTE, i, (byte) (first + i * 7));
    }
    return segment;
  }

  private static void largeSegments(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int to = (me + 1) % n;
    int from = (me + n - 1) % n;
    MemorySegment kept = Arena.ofAuto().allocate(3_000_000, 8);
    for (int size : new int[] {20_001, 2_500_000}) {
      try (Arena arena = Arena.ofShared()) {
        MemorySegment out = numbers(arena, size, me);
        MemorySegment wanted = numbers(arena, size, from);
        for (int round = 0; round < (LONG ? 3 : 2); round++) {
          // Expected, at some offset; several at once.
          kept.fill((byte) 0);
          Request whole = w.Irecv(kept, 100, size, MPI.BYTE, from, TAG);
          MemorySegment part = arena.allocate(size);
          Request partial = w.Irecv(part, 0, size, MPI.BYTE, MPI.ANY_SOURCE, TAG + 1);
          byte[] array = new byte[size];
          Request copied = w.Irecv(array, 0, size, MPI.BYTE, from, TAG + 2);
          Request[] sends = {
            w.Isend(out, 0, size, MPI.BYTE, to, TAG),
            w.Issend(out, 8, size - 8, MPI.BYTE, to, TAG + 1),
            w.Isend(out.asReadOnly(), 0, size, MPI.BYTE, to, TAG + 2)
          };
          assertThat(whole.Wait().Get_count(MPI.BYTE)).isEqualTo(size);
          assertThat(partial.Wait().Get_count(MPI.BYTE)).isEqualTo(size - 8);
          copied.Wait();
          Request.Waitall(sends);
          assertThat(kept.asSlice(100, size).mismatch(wanted)).isEqualTo(-1);
          assertThat(kept.get(ValueLayout.JAVA_BYTE, 99)).isZero();
          assertThat(kept.get(ValueLayout.JAVA_BYTE, 100L + size)).isZero();
          assertThat(part.asSlice(0, size - 8).mismatch(wanted.asSlice(8))).isEqualTo(-1);
          assertThat(MemorySegment.ofArray(array).mismatch(wanted)).isEqualTo(-1);
          // Before its receive, which is shorter.
          Request early = w.Isend(out, 0, size, MPI.BYTE, to, TAG);
          w.Probe(from, TAG);
          kept.fill((byte) 0);
          assertThatThrownBy(() -> w.Recv(kept, 0, size - 16, MPI.BYTE, from, TAG))
              .isInstanceOf(MPIException.class)
              .hasMessageContaining("" + size);
          early.Wait();
          int cut = size - 16;
          assertThat(kept.asSlice(0, cut).mismatch(wanted.asSlice(0, cut))).isEqualTo(-1);
          assertThat(kept.get(ValueLayout.JAVA_BYTE, cut)).isZero();
        }
      }
    }
    w.Barrier();
  }

  private static void self(Intracomm w) {
    int me = w.Rank();
    for (int size : new int[] {0, 10, 100_000}) {
      int[] got = new int[size];
      Request receive = w.Irecv(got, 0, size, MPI.INT, me, TAG);
      w.Send(filled(size, 3), 0, size, MPI.INT, me, TAG);
      receive.Wait();
      assertThat(got).isEqualTo(filled(size, 3));
      Request send = w.Isend(filled(size, 4), 0, size, MPI.INT, me, TAG);
      Status status = w.Probe(MPI.ANY_SOURCE, TAG);
      assertThat(status.Get_count(MPI.INT)).isEqualTo(size);
      w.Recv(got, 0, size, MPI.INT, MPI.ANY_SOURCE, TAG);
      send.Wait();
      assertThat(got).isEqualTo(filled(size, 4));
    }
    w.Barrier();
  }

  private static void nobody(Intracomm w) {
    int[] data = {1};
    w.Send(data, 0, 1, MPI.INT, MPI.PROC_NULL, TAG);
    Status status = w.Recv(data, 0, 1, MPI.INT, MPI.PROC_NULL, TAG);
    assertThat(status.source).isEqualTo(MPI.PROC_NULL);
    assertThat(status.Get_count(MPI.INT)).isZero();
    assertThat(w.Irecv(data, 0, 1, MPI.INT, MPI.PROC_NULL, TAG).Test().source)
        .isEqualTo(MPI.PROC_NULL);
    assertThat(w.Improbe(MPI.PROC_NULL, TAG).Status().source).isEqualTo(MPI.PROC_NULL);
    Message message = w.Mprobe(MPI.PROC_NULL, TAG);
    assertThat(message.Recv(data, 0, 1, MPI.INT).source).isEqualTo(MPI.PROC_NULL);
    refused(() -> message.Recv(data, 0, 1, MPI.INT), MPIException.ERR_REQUEST, "received before");
    assertThat(data[0]).isEqualTo(1);
    assertThat(MPI.REQUEST_NULL.Wait()).isNotNull();
  }

  private static void outstanding(Intracomm w) {
    int count = 10_000;
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    Request[] requests = new Request[2 * count];
    int[][] got = new int[count][];
    for (int i = 0; i < count; i++) {
      got[i] = new int[i % 100 == 0 ? 5000 : 2];
      requests[i] = w.Irecv(got[i], 0, got[i].length, MPI.INT, from, i);
    }
    for (int i = 0; i < count; i++) {
      requests[count + i] = w.Isend(filled(got[i].length, i), 0, got[i].length, MPI.INT, to, i);
    }
    Request.Waitall(requests);
    for (int i = 0; i < count; i++) {
      assertThat(got[i][1]).isEqualTo(i + 1);
    }
    w.Barrier();
  }

  private static void persistent(Intracomm w) {
    int n = w.Size();
    int[] out = new int[10];
    int[] in = new int[10];
    Prequest send = w.Send_init(out, 0, 10, MPI.INT, (w.Rank() + 1) % n, TAG);
    Prequest receive = w.Recv_init(in, 0, 10, MPI.INT, (w.Rank() + n - 1) % n, TAG);
    for (int i = 0; i < 3000; i++) {
      out[9] = i;
      Prequest.Startall(new Prequest[] {receive, send});
      Request.Waitall(new Request[] {send, receive});
      assertThat(in[9]).isEqualTo(i);
    }
    receive.Start();
    assertThatThrownBy(receive::Start).hasMessageContaining("started");
    send.Start();
    send.Wait();
    receive.Wait();
    w.Barrier();
  }

  private static void persistentBuffered(Intracomm w) {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    BufferedSends sends = w.world().buffered();
    sends.attach(new byte[1000], 1000);
    Datatype pair = Datatype.Contiguous(2, MPI.INT);
    pair.Commit();
    int[] out = new int[2];
    refused(() -> w.Bsend_init(out, 0, 1, pair, n, TAG), MPIException.ERR_RANK, "destination");
    refused(() -> w.Bsend_init(out, 0, 1, pair, to, -1), MPIException.ERR_TAG, "tag -1");
    Prequest toNobody = w.Bsend_init(out, 0, 1, pair, MPI.PROC_NULL, TAG);
    Prequest send = w.Bsend_init(out, 0, 1, pair, to, TAG);
    pair.Free();
    out[1] = 5;
    Prequest.Startall(new Prequest[] {toNobody, send});
    Request.Waitall(new Request[] {toNobody, send});
    int[] in = new int[2];
    w.Recv(in, 0, 2, MPI.INT, (w.Rank() + n - 1) % n, TAG);
    assertThat(in[1]).isEqualTo(5);
    assertThat(sends.detach()).isNotNull();
    w.Barrier();
  }

  private static void freed(Prequest request) {
    assertThat(request.Is_null()).isFalse();
    request.Free();
    assertThat(request.Is_null()).isTrue();
    refused(request::Start, MPIException.ERR_REQUEST, "freed");
    refused(() -> Prequest.Startall(new Prequest[] {request}), MPIException.ERR_REQUEST, "freed");
    refused(request::Cancel, MPIException.ERR_REQUEST, "null request");
    refused(request::Free, MPIException.ERR_REQUEST, "null request");
    assertThat(request.Wait().Get_count(MPI.INT)).isZero();
    assertThat(request.Test()).isNotNull();
  }

  private static void nullRequests(Intracomm w) {
    int n = w.Size();
    int[] a = new int[1];
    int to = (w.Rank() + 1) % n;
    Prequest send = w.Send_init(new int[] {5}, 0, 1, MPI.INT, to, TAG);
    Prequest receive = w.Recv_init(a, 0, 1, MPI.INT, (w.Rank() + n - 1) % n, TAG);
    assertThat(send.Is_null()).isFalse();
    // Inactive ones are over, and may be cancelled in vain.
    assertThat(receive.Wait().Get_count(MPI.INT)).isZero();
    assertThat(receive.Test()).isNotNull();
    receive.Cancel();
    Request[] inactive = {send, receive, null, MPI.REQUEST_NULL};
    assertThat(Request.Waitany(inactive).index).isEqualTo(MPI.UNDEFINED);
    assertThat(Request.Testany(inactive).index).isEqualTo(MPI.UNDEFINED);
    assertThat(Request.Waitsome(inactive)).isNull();
    assertThat(Request.Testsome(inactive)).isNull();
    assertThat(Request.Waitall(inactive)).hasSize(4);
    assertThat(Request.Testall(inactive)).hasSize(4);
    refused(
        () -> Prequest.Startall(new Prequest[] {send, null}),
        MPIException.ERR_REQUEST,
        "request 1 is null");
    // Nothing of the refused call was started.
    Prequest.Startall(new Prequest[] {send, receive});
    Request.Waitall(new Request[] {send, receive});
    assertThat(a[0]).isEqualTo(5);
    assertThat(receive.Is_null()).isFalse();
    freed(send);
    freed(receive);
    freed(w.Ssend_init(a, 0, 1, MPI.INT, to, TAG));
    freed(w.Rsend_init(a, 0, 1, MPI.INT, to, TAG));
    freed(w.Bsend_init(a, 0, 1, MPI.INT, to, TAG));
    freed(w.Send_init(a, 0, 1, MPI.INT, MPI.PROC_NULL, TAG));
    freed(w.Recv_init(a, 0, 1, MPI.INT, MPI.PROC_NULL, TAG));
    // A start of a freed request has sent nothing.
    w.Barrier();
    assertThat(w.Iprobe(MPI.ANY_SOURCE, TAG)).isNull();
    Request once = w.Irecv(a, 0, 1, MPI.INT, MPI.PROC_NULL, TAG);
    assertThat(once.Is_null()).isFalse();
    once.Wait();
    assertThat(once.Is_null()).isTrue();
    refused(once::Cancel, MPIException.ERR_REQUEST, "null request");
    refused(once::Free, MPIException.ERR_REQUEST, "null request");
    refused(MPI.REQUEST_NULL::Cancel, MPIException.ERR_REQUEST, "null request");
    refused(() -> Request.Waitall(null), MPIException.ERR_ARG, "Waitall: the array of requests");
    refused(() -> Request.Testsome(null), MPIException.ERR_ARG, "Testsome: the array of requests");
    refused(() -> Prequest.Startall(null), MPIException.ERR_ARG, "Startall: the array of requests");
    if (w.Rank() == 0) {
      // The others join later: so this one is under way.
      Request barrier = w.Ibarrier();
      refused(barrier::Cancel, MPIException.ERR_REQUEST, "collective");
      refused(barrier::Free, MPIException.ERR_REQUEST, "collective");
      w.Barrier();
      barrier.Wait();
    } else {
      w.Barrier();
      w.Ibarrier().Wait();
    }
    w.Barrier();
  }

  private static void crossing(Intracomm w) {
    int size = 2 << 20;
    int n = w.Size();
    int[] in = new int[size];
    Request receive = w.Irecv(in, 0, size, MPI.INT, (w.Rank() + n - 1) % n, TAG);
    w.Send(filled(size, 1), 0, size, MPI.INT, (w.Rank() + 1) % n, TAG);
    receive.Wait();
    assertThat(in).isEqualTo(filled(size, 1));
    w.Barrier();
  }

  private static void flood(Intracomm w) {
    int size = FLOOD_INTS;
    if (w.Rank() == 1) {
      Request[] sends = new Request[FLOOD];
      for (int i = 0; i < FLOOD; i++) {
        sends[i] = w.Isend(filled(size, i), 0, size, MPI.INT, 0, i);
      }
      Request.Waitall(sends);
    } else if (w.Rank() == 0) {
      int[] got = new int[size];
      w.Recv(got, 0, size, MPI.INT, 1, FLOOD - 1);
      assertThat(got).isEqualTo(filled(size, FLOOD - 1));
      for (int i = 0; i < FLOOD - 1; i++) {
        w.Recv(got, 0, size, MPI.INT, 1, MPI.ANY_TAG);
        assertThat(got[0]).isEqualTo(i);
        assertThat(got[size - 1]).isEqualTo(i + size - 1);
      }
    }
    w.Barrier();
  }

  private static void strided(Intracomm w) {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    // A column of a matrix.
    int rows = 3000;
    double[] matrix = new double[rows * 10];
    for (int i = 0; i < matrix.length; i++) {
      matrix[i] = i;
    }
    Datatype column = Datatype.Vector(rows, 1, 10, MPI.DOUBLE);
    assertThatThrownBy(() -> w.Send(matrix, 0, 1, column, to, TAG))
        .hasMessageContaining("not committed");
    column.Commit();
    double[] got = new double[rows];
    w.Sendrecv(matrix, 3, 1, column, to, TAG, got, 0, rows, MPI.DOUBLE, from, TAG);
    for (int i = 0; i < rows; i++) {
      assertThat(got[i]).isEqualTo(i * 10 + 3);
    }
    double[] back = new double[rows * 10];
    w.Sendrecv(got, 0, rows, MPI.DOUBLE, to, TAG, back, 7, 1, column, from, TAG);
    for (int i = 0; i < back.length; i++) {
      assertThat(back[i]).isEqualTo(i % 10 == 7 ? i - 4 : 0);
    }
    // A struct of vectors, with an extent of its own.
    Datatype pairs = Datatype.Vector(2, 2, 3, MPI.INT);
    Datatype mixed =
        Datatype.Struct(
            new int[] {1, 2, 1}, new int[] {1, 7, 20}, new Datatype[] {pairs, MPI.INT, MPI.UB});
    assertThat(mixed.Size()).isEqualTo(6);
    assertThat(mixed.Extent()).isEqualTo(19);
    mixed.Commit();
    int[] places = {1, 2, 4, 5, 7, 8};
    int[] source = filled(4000 * 19, 0);
    int[] target = new int[4000 * 6];
    w.Sendrecv(source, 0, 3999, mixed, to, TAG, target, 0, target.length, MPI.INT, from, TAG);
    for (int k = 0; k < 3999; k++) {
      for (int i = 0; i < 6; i++) {
        assertThat(target[k * 6 + i]).isEqualTo(k * 19 + places[i]);
      }
    }
    Datatype overlapping = Datatype.Indexed(new int[] {3, 3}, new int[] {0, 2}, MPI.INT);
    overlapping.Commit();
    assertThatThrownBy(() -> w.Irecv(new int[10], 0, 1, overlapping, from, TAG))
        .hasMessageContaining("on each other");
    w.Barrier();
  }

  private static void objects(Intracomm w) {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    Object[] out = {"text", 5, List.of(1, 2), new int[] {1, 2, 3}, null, "x".repeat(100_000)};
    Object[] in = new Object[8];
    Status status = w.Sendrecv(out, 0, 6, MPI.OBJECT, to, TAG, in, 1, 7, MPI.OBJECT, from, TAG);
    assertThat(status.Get_count(MPI.OBJECT)).isEqualTo(6);
    assertThat(Arrays.deepEquals(Arrays.copyOfRange(in, 1, 7), out)).isTrue();
    assertThatThrownBy(() -> w.Send(new Object[] {new Object()}, 0, 1, MPI.OBJECT, to, TAG))
        .hasMessageContaining("cannot be sent");
    assertThatThrownBy(
            () ->
                w.Sendrecv(
                    out, 0, 2, MPI.OBJECT, to, TAG, new Integer[2], 0, 2, MPI.OBJECT, from, TAG))
        .hasMessageContaining("does not fit");
    w.Barrier();
  }

  private static void threads(Intracomm w) throws Exception {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    inThreads(
        8,
        t -> {
          for (int i = 0; i < 100; i++) {
            int size = i % 10 == 0 ? 10_000 : 3;
            int[] in = new int[size];
            w.Sendrecv(filled(size, t + i), 0, size, MPI.INT, to, t, in, 0, size, MPI.INT, from, t);
            assertThat(in).isEqualTo(filled(size, t + i));
          }
        });
    w.Barrier();
  }

  /** As many virtual threads of rank 0 wait as there are messages of rank 1, the last one first. */
  static void virtualThreads(Intracomm w, int count) throws Exception {
    if (w.Rank() == 0) {
      AtomicInteger sum = new AtomicInteger();
      Thread[] threads = new Thread[count];
      for (int i = 0; i < count; i++) {
        int tag = i;
        threads[i] =
            Thread.startVirtualThread(
                () -> {
                  int[] got = new int[1];
                  w.Recv(got, 0, 1, MPI.INT, 1, tag);
                  sum.addAndGet(got[0]);
                });
      }
      w.Send(new int[1], 0, 1, MPI.INT, 1, 0);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(sum.get()).isEqualTo(count * (count - 1) / 2);
    } else if (w.Rank() == 1) {
      w.Recv(new int[1], 0, 1, MPI.INT, 0, 0);
      for (int i = count - 1; i >= 0; i--) {
        w.Send(new int[] {i}, 0, 1, MPI.INT, 0, i);
      }
    }
    w.Barrier();
  }

  private static void someFail(Intracomm w) {
    if (w.Rank() == 0) {
      Request[] requests = {
        w.Irecv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 1),
        w.Irecv(new Object[1], 0, 1, MPI.OBJECT, MPI.ANY_SOURCE, 2),
        w.Irecv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 3)
      };
      w.Recv(new int[1], 0, 1, MPI.INT, 1, 4); // Those before have come.
      Status[] some = Request.Waitsome(requests);
      assertThat(some).hasSize(1);
      assertThat(some[0].source).isEqualTo(1);
      assertThat(some[0].index).isZero();
      int error = MPIException.ERR_TRUNCATE;
      refused(() -> Request.Waitsome(requests), error, "message of 2 objects");
      refused(() -> Request.Testsome(requests), error, "message of 8 bytes");
      assertThat(Request.Waitsome(requests)).isNull();
    } else if (w.Rank() == 1) {
      w.Send(new int[1], 0, 1, MPI.INT, 0, 1);
      w.Send(new Object[] {"a", "b"}, 0, 2, MPI.OBJECT, 0, 2);
      w.Send(new int[2], 0, 2, MPI.INT, 0, 3);
      w.Send(new int[1], 0, 1, MPI.INT, 0, 4);
    }
    w.Barrier();
  }

  private static void allFail(Intracomm w) {
    if (w.Rank() == 0) {
      Request[] requests = {
        w.Irecv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 1),
        null,
        w.Irecv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 2),
        w.Irecv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 3)
      };
      refused(() -> Request.Waitall(requests), MPIException.ERR_TRUNCATE, "message of 8 bytes");
      Status[] all = Request.Waitall(requests);
      assertThat(all[0].source).isEqualTo(1);
      assertThat(all[0].tag).isEqualTo(1);
      assertThat(all[1].Get_count(MPI.INT)).isZero();
      assertThat(all[2].Get_count(MPI.INT)).isZero();
      assertThat(all[3].tag).isEqualTo(3);
      assertThat(requests[0].Is_null()).isTrue();
    } else if (w.Rank() == 1) {
      w.Send(new int[1], 0, 1, MPI.INT, 0, 1);
      w.Send(new int[2], 0, 2, MPI.INT, 0, 2);
      w.Send(new int[1], 0, 1, MPI.INT, 0, 3);
    }
    w.Barrier();
  }

  private static void anyAndSome(Intracomm w) {
    if (w.Rank() == 0) {
      int[][] got = new int[20][1];
      Request[] requests = new Request[20];
      for (int i = 0; i < 20; i++) {
        requests[i] = w.Irecv(got[i], 0, 1, MPI.INT, 1, i);
      }
      assertThat(Request.Testall(requests)).isNull();
      w.Send(new int[1], 0, 1, MPI.INT, 1, 0);
      boolean[] seen = new boolean[20];
      for (int i = 0; i < 10; i++) {
        Status status = Request.Waitany(requests);
        assertThat(got[status.index][0]).isEqualTo(status.tag).isEqualTo(status.index);
        assertThat(seen[status.index]).isFalse();
        seen[status.index] = true;
      }
      int more = 0;
      while (more < 10) {
        Status[] some = Request.Waitsome(requests);
        assertThat(some).isNotEmpty();
        more += some.length;
      }
      assertThat(Request.Waitany(requests).index).isEqualTo(MPI.UNDEFINED);
      assertThat(Request.Waitsome(requests)).isNull();
    } else if (w.Rank() == 1) {
      w.Recv(new int[1], 0, 1, MPI.INT, 0, 0);
      for (int i = 19; i >= 0; i--) {
        w.Send(new int[] {i}, 0, 1, MPI.INT, 0, i);
      }
    }
    w.Barrier();
  }

  /** Only Testall makes progress for the receive. */
  private static void overFromTheStart(Intracomm w) {
    if (w.Rank() == 0) {
      int[] got = new int[1];
      Request[] requests = {
        w.Irecv(new int[1], 0, 1, MPI.INT, MPI.PROC_NULL, TAG),
        w.Isend(new int[1], 0, 1, MPI.INT, 1, 1),
        w.Irecv(got, 0, 1, MPI.INT, 1, TAG)
      };
      long until = System.nanoTime() + 60_000_000_000L;
      Status[] all = Request.Testall(requests);
      while (all == null) {
        assertThat(System.nanoTime()).as("no progress").isLessThan(until);
        all = Request.Testall(requests);
      }
      assertThat(all).hasSize(3);
      assertThat(all[2].source).isEqualTo(1);
      assertThat(got[0]).isEqualTo(5);
    } else if (w.Rank() == 1) {
      w.Recv(new int[1], 0, 1, MPI.INT, 0, 1);
      w.Send(new int[] {5}, 0, 1, MPI.INT, 0, TAG);
    }
    w.Barrier();
  }

  private static void communicators(Intracomm w) {
    Intracomm other = w.Dup();
    assertThat(Comm.Compare(w, other)).isEqualTo(MPI.CONGRUENT);
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    Request a = w.Isend(new int[] {1}, 0, 1, MPI.INT, to, TAG);
    Request b = other.Isend(new int[] {2}, 0, 1, MPI.INT, to, TAG);
    int[] got = new int[1];
    other.Recv(got, 0, 1, MPI.INT, from, MPI.ANY_TAG);
    assertThat(got[0]).isEqualTo(2);
    w.Recv(got, 0, 1, MPI.INT, from, MPI.ANY_TAG);
    assertThat(got[0]).isEqualTo(1);
    Request.Waitall(new Request[] {a, b});
    Intracomm half = w.Split(w.Rank() % 2, -w.Rank());
    assertThat(half.Size()).isEqualTo((n + 1 - w.Rank() % 2) / 2);
    int[] ranks = new int[half.Size()];
    half.Allgather(new int[] {w.Rank()}, 0, 1, MPI.INT, ranks, 0, 1, MPI.INT);
    for (int i = 1; i < ranks.length; i++) {
      assertThat(ranks[i]).isEqualTo(ranks[i - 1] - 2);
    }
    Intracomm some = w.Create(w.Group().Excl(new int[] {0}));
    assertThat(some == null).isEqualTo(w.Rank() == 0);
    if (some != null) {
      some.Barrier();
      some.Free();
    }
    assertThat(w.Split(MPI.UNDEFINED, 0)).isNull();
    Group everybody = MPI.GROUP_EMPTY;
    for (int i = 0; i < n; i++) {
      everybody = Group.Union(everybody, w.Group().Incl(new int[] {i}));
    }
    assertThat(everybody.Rank()).isEqualTo(w.Rank());
    Intracomm again = w.Create(everybody);
    assertThat(again).isNotNull();
    assertThat(again.Rank()).isEqualTo(w.Rank());
    again.Free();
    half.Free();
    other.Free();
    assertThatThrownBy(other::Size).hasMessageContaining("freed");
    for (int i = 0; i < 300; i++) {
      w.Dup().Free();
    }
  }

  private static void communicatorsByThreads(Intracomm w) throws Exception {
    Intracomm[] parents = new Intracomm[3];
    for (int i = 0; i < parents.length; i++) {
      parents[i] = w.Dup();
    }
    inThreads(
        parents.length,
        t -> {
          // Threads of different ranks begin in different orders.
          Intracomm parent = parents[t];
          for (int i = 0; i < 30; i++) {
            Intracomm made = parent.Dup();
            int[] sum = new int[1];
            made.Allreduce(new int[] {1}, 0, sum, 0, 1, MPI.INT, MPI.SUM);
            assertThat(sum[0]).isEqualTo(w.Size());
            made.Free();
          }
        });
    for (Intracomm parent : parents) {
      parent.Free();
    }
  }

  private static void interCommunicators(Intracomm w) {
    refused(() -> w.Create_intercomm(w, 0, 0, TAG), MPIException.ERR_GROUP, "on both sides");
    int n = w.Size();
    boolean low = w.Rank() < n / 2;
    Intracomm side = w.Split(low ? 0 : 1, w.Rank());
    Intercomm inter = w.Create_intercomm(side, 0, low ? n / 2 : 0, 12);
    assertThat(inter.Test_inter()).isTrue();
    assertThat(inter.Remote_size()).isEqualTo(n - side.Size());
    if (side.Rank() == 0) {
      int[] got = new int[1];
      Status status =
          inter.Sendrecv(new int[] {w.Rank()}, 0, 1, MPI.INT, 0, TAG, got, 0, 1, MPI.INT, 0, TAG);
      assertThat(got[0]).isEqualTo(low ? n / 2 : 0);
      assertThat(status.source).isZero();
    }
    Intracomm merged = inter.Merge(low);
    assertThat(merged.Size()).isEqualTo(n);
    assertThat(merged.Rank()).isEqualTo(low ? w.Rank() + n - n / 2 : w.Rank() - n / 2);
    int[] sum = new int[1];
    merged.Allreduce(new int[] {1}, 0, sum, 0, 1, MPI.INT, MPI.SUM);
    assertThat(sum[0]).isEqualTo(n);
    merged.Free();
    Intercomm copy = (Intercomm) inter.clone();
    copy.Free();
    inter.Free();
    side.Free();
    w.Barrier();
  }

  private static void messagesDoNotMeetMerge(Intracomm w) {
    int n = w.Size();
    boolean low = w.Rank() < n / 2;
    Intracomm side = w.Split(low ? 0 : 1, w.Rank());
    Intercomm inter = w.Create_intercomm(side, 0, low ? n / 2 : 0, 12);
    boolean leads = side.Rank() == 0;
    int[] mine = {w.Rank()};
    int[] got = {-1};
    Request receive = null;
    if (leads) {
      receive = inter.Irecv(got, 0, 1, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
    }
    Intracomm merged = inter.Merge(low);
    if (leads) {
      inter.Send(mine, 0, 1, MPI.INT, 0, 0);
      assertThat(receive.Wait().tag).isZero();
      assertThat(got[0]).isEqualTo(low ? n / 2 : 0);
    }
    // And the other way round: a message that has come before.
    Request send = leads ? inter.Isend(mine, 0, 1, MPI.INT, 0, 0) : null;
    if (leads) {
      assertThat(inter.Probe(0, 0).tag).isZero();
    }
    Intercomm copy = (Intercomm) inter.clone();
    if (leads) {
      got[0] = -1;
      inter.Recv(got, 0, 1, MPI.INT, 0, 0);
      assertThat(got[0]).isEqualTo(low ? n / 2 : 0);
      send.Wait();
    }
    copy.Free();
    merged.Free();
    inter.Free();
    side.Free();
    w.Barrier();
  }

  private static void topologies(Intracomm w) {
    int n = w.Size();
    int[] dims = new int[2];
    Cartcomm.Dims_create(n, dims);
    assertThat(dims[0] * dims[1]).isEqualTo(n);
    Cartcomm grid = w.Create_cart(dims, new boolean[] {true, false}, true);
    int[] at = grid.Coords(grid.Rank());
    assertThat(grid.Rank(at)).isEqualTo(grid.Rank());
    ShiftParms shift = grid.Shift(1, 1);
    assertThat(shift.rank_dest == MPI.PROC_NULL).isEqualTo(at[1] == dims[1] - 1);
    ShiftParms around = grid.Shift(0, 1);
    assertThat(around.rank_dest).isGreaterThanOrEqualTo(0);
    int far = Math.floorMod(at[0] + (long) Integer.MAX_VALUE, dims[0]);
    assertThat(grid.Shift(0, Integer.MAX_VALUE).rank_dest)
        .isEqualTo(grid.Rank(new int[] {far, at[1]}));
    Cartcomm row = grid.Sub(new boolean[] {false, true});
    assertThat(row.Size()).isEqualTo(dims[1]);
    assertThat(row.Rank()).isEqualTo(at[1]);
    row.Free();
    grid.Free();
    int[] index = new int[n];
    int[] edges = new int[n];
    for (int i = 0; i < n; i++) {
      index[i] = i + 1;
      edges[i] = (i + 1) % n;
    }
    Graphcomm ring = w.Create_graph(index, edges, false);
    assertThat(ring.Neighbours(ring.Rank())).containsExactly((ring.Rank() + 1) % n);
    assertThat(ring.Topo_test()).isEqualTo(MPI.GRAPH);
    ring.Free();
  }

  private static void refused(Runnable call, int errorClass, String text) {
    assertThatThrownBy(call::run)
        .isInstanceOfSatisfying(
            MPIException.class, e -> assertThat(e.errorClass()).isEqualTo(errorClass))
        .hasMessageContaining(text);
  }

  private static void badArguments(Intracomm w) {
    int[] a = new int[4];
    int n = w.Size();
    refused(() -> w.Send(a, 0, 1, MPI.INT, n, 0), MPIException.ERR_RANK, "destination " + n);
    refused(() -> w.Recv(a, 0, 1, MPI.INT, -9, 0), MPIException.ERR_RANK, "source -9");
    refused(() -> w.Send(a, 0, 1, MPI.INT, 0, -1), MPIException.ERR_TAG, "tag -1");
    refused(() -> w.Send(a, 0, -1, MPI.INT, 0, 0), MPIException.ERR_COUNT, "count -1");
    refused(() -> w.Send(a, 3, 2, MPI.INT, 0, 0), MPIException.ERR_BUFFER, "the buffer has 4");
    refused(() -> w.Send(null, 0, 1, MPI.INT, 0, 0), MPIException.ERR_BUFFER, "null");
    refused(() -> w.Send(a, 0, 1, MPI.LONG, 0, 0), MPIException.ERR_BUFFER, "int[]");
    refused(() -> w.Send(a, 0, 1, null, 0, 0), MPIException.ERR_TYPE, "datatype is null");
    refused(() -> w.Bcast(a, 0, 1, MPI.INT, n), MPIException.ERR_ROOT, "root " + n);
    refused(
        () -> w.Allreduce(a, 0, new int[4], 0, 1, MPI.INT, null),
        MPIException.ERR_OP,
        "operation is null");
    refused(() -> MPI.COMM_NULL.Size(), MPIException.ERR_COMM, "COMM_NULL");
    int arg = MPIException.ERR_ARG;
    refused(() -> Cartcomm.Dims_create(0, new int[2]), arg, "0 ranks");
    refused(() -> Cartcomm.Dims_create(-4, new int[1]), arg, "-4 ranks");
    badCounts(w);
    nullArguments(w);
    w.Barrier();
  }

  private static void refusedExchange(Intracomm w) {
    if (w.Rank() == 0) {
      int n = w.Size();
      int[] a = new int[1];
      w.Probe(1, TAG);
      refused(
          () -> w.Sendrecv(a, 0, 1, MPI.INT, n, 1, a, 0, 1, MPI.INT, 1, TAG),
          MPIException.ERR_RANK,
          "destination " + n);
      refused(
          () -> w.Sendrecv(a, 0, 1, MPI.INT, 1, -1, a, 0, 1, MPI.INT, 1, TAG),
          MPIException.ERR_TAG,
          "tag -1");
      refused(
          () -> w.Sendrecv(null, 0, 1, MPI.INT, 1, 1, a, 0, 1, MPI.INT, 1, TAG),
          MPIException.ERR_BUFFER,
          "buffer is null");
      refused(
          () -> w.Sendrecv_replace(a, 0, 1, MPI.INT, n, 1, 1, TAG),
          MPIException.ERR_RANK,
          "destination " + n);
      assertThat(w.Iprobe(1, TAG)).isNotNull();
      w.Recv(a, 0, 1, MPI.INT, 1, TAG);
      assertThat(a[0]).isEqualTo(5);
    } else if (w.Rank() == 1) {
      w.Send(new int[] {5}, 0, 1, MPI.INT, 0, TAG);
    }
    w.Barrier();
  }

  /** Counts whose product with the number of ranks, the extent or the size is no int. */
  private static void badCounts(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int[] a = new int[4];
    int[] many = new int[8 * n];
    // From three ranks on the lower 32 bits of the product are a small number.
    int wraps = (int) Math.min(Integer.MAX_VALUE, ((1L << 32) + 4) / n);
    int count = MPIException.ERR_COUNT;
    int buffer = MPIException.ERR_BUFFER;
    int error = count;
    String text = "" + (long) wraps * n;
    refused(() -> w.Gather(a, 0, 4, MPI.INT, a, 0, wraps, MPI.INT, me), error, text);
    refused(() -> w.Igather(a, 0, 4, MPI.INT, a, 0, wraps, MPI.INT, me), error, text);
    refused(() -> w.Scatter(a, 0, wraps, MPI.INT, a, 0, 4, MPI.INT, me), error, text);
    refused(() -> w.Allgather(a, 0, 4, MPI.INT, a, 0, wraps, MPI.INT), error, text);
    refused(() -> w.Alltoall(many, 0, 4, MPI.INT, a, 0, wraps, MPI.INT), error, text);
    refused(() -> w.Ialltoall(a, 0, wraps, MPI.INT, many, 0, 4, MPI.INT), error, text);
    refused(() -> w.Alltoall(MPI.IN_PLACE, 0, 0, null, a, 0, wraps, MPI.INT), error, text);
    refused(() -> w.Gather(a, 0, 4, MPI.INT, a, 0, -1, MPI.INT, me), count, "count -1");
    // Displacements in extents of a long datatype.
    Datatype wide = Datatype.Struct(new int[] {1, 1}, new int[] {0, 1 << 30}, intAndUpper());
    wide.Commit();
    int[] ones = new int[n];
    Arrays.fill(ones, 1);
    int[] far = new int[n];
    Arrays.fill(far, 4);
    refused(() -> w.Allgatherv(a, 0, 1, MPI.INT, a, 0, ones, far, wide), buffer, "4294967296");
    refused(() -> w.Alltoallv(a, 0, ones, far, wide, a, 0, ones, far, wide), buffer, "4294967296");
    refused(() -> w.Gatherv(a, 0, 1, MPI.INT, a, 0, ones, far, wide, me), buffer, "4294967296");
    refused(() -> w.Scatterv(a, 0, ones, far, wide, a, 0, 1, MPI.INT, me), buffer, "4294967296");
    int[] sum = new int[n];
    sum[0] = Integer.MAX_VALUE;
    sum[1] = Integer.MAX_VALUE;
    refused(() -> w.Reduce_scatter(a, 0, a, 0, sum, MPI.INT, MPI.SUM), count, "4294967294");
    // Many elements that lie on each other.
    Datatype same = Datatype.Hvector(1 << 10, 1, 0, MPI.INT);
    same.Commit();
    int[] in = new int[1];
    refused(() -> w.Pack(in, 0, 1 << 20, still(same), new byte[4], 0), count, "1048576 of Struct");
    refused(() -> w.Reduce(in, 0, a, 0, 1 << 21, still(same), MPI.SUM, me), count, "2147483648");
    // Types that are too long.
    for (Runnable type :
        List.<Runnable>of(
            () -> Datatype.Contiguous(Integer.MAX_VALUE, MPI.INT2),
            () -> Datatype.Vector(2, 1, Integer.MAX_VALUE, MPI.INT2),
            () -> Datatype.Hvector(3, 1, Integer.MAX_VALUE, MPI.INT),
            () -> Datatype.Indexed(new int[] {1}, new int[] {1 << 30}, MPI.INT2),
            () -> Datatype.Hindexed(new int[] {2}, new int[] {Integer.MAX_VALUE}, MPI.INT),
            () -> Datatype.Contiguous(8, wide))) {
      refused(type, MPIException.ERR_ARG, "" + Integer.MAX_VALUE);
    }
    refused(
        Datatype.Contiguous(Integer.MAX_VALUE, MPI.LONG)::getByteSize, count, "17179869176 bytes");
    assertThat(Datatype.Contiguous(Integer.MAX_VALUE, MPI.INT).Size()).isEqualTo(Integer.MAX_VALUE);
  }

  private static Datatype[] intAndUpper() {
    return new Datatype[] {MPI.INT, MPI.UB};
  }

  /** One that each element of lies at the same place as all others. */
  private static Datatype still(Datatype same) {
    Datatype still =
        Datatype.Struct(
            new int[] {1, 1, 1}, new int[] {0, 0, 0}, new Datatype[] {MPI.LB, same, MPI.UB});
    still.Commit();
    return still;
  }

  private static void nullArguments(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int[] a = new int[4 * n];
    int[] ones = new int[n];
    int count = MPIException.ERR_COUNT;
    int arg = MPIException.ERR_ARG;
    String counts = "the array of counts is null";
    String places = "the array of displacements is null";
    refused(() -> w.Gatherv(a, 0, 0, MPI.INT, a, 0, null, ones, MPI.INT, me), count, counts);
    refused(() -> w.Gatherv(a, 0, 0, MPI.INT, a, 0, ones, null, MPI.INT, me), count, places);
    refused(() -> w.Igatherv(a, 0, 0, MPI.INT, a, 0, ones, null, MPI.INT, me), count, places);
    refused(() -> w.Scatterv(a, 0, null, ones, MPI.INT, a, 0, 0, MPI.INT, me), count, counts);
    refused(() -> w.Scatterv(a, 0, ones, null, MPI.INT, a, 0, 0, MPI.INT, me), count, places);
    refused(() -> w.Allgatherv(a, 0, 0, MPI.INT, a, 0, ones, null, MPI.INT), count, places);
    refused(() -> w.Alltoallv(a, 0, ones, null, MPI.INT, a, 0, ones, ones, MPI.INT), count, places);
    refused(() -> w.Alltoallv(a, 0, ones, ones, MPI.INT, a, 0, ones, null, MPI.INT), count, places);
    refused(
        () -> w.Allgatherv(a, 0, 0, MPI.INT, a, 0, ones, new int[n - 1], MPI.INT),
        count,
        "displacements has " + (n - 1) + " elements");
    refused(() -> w.Reduce_scatter(a, 0, a, 0, null, MPI.INT, MPI.SUM), count, counts);
    int buffer = MPIException.ERR_BUFFER;
    refused(() -> w.Gather(null, 0, 1, MPI.INT, a, 0, 1, MPI.INT, me), buffer, "buffer is null");
    refused(() -> w.Allgather(null, 0, 1, MPI.INT, a, 0, 1, MPI.INT), buffer, "buffer is null");
    refused(() -> w.Scatter(a, 0, 1, MPI.INT, null, 0, 1, MPI.INT, me), buffer, "buffer is null");
    refused(() -> w.Allreduce(null, 0, a, 0, 1, MPI.INT, MPI.SUM), buffer, "buffer is null");
    w.Gather(null, 0, 0, MPI.INT, null, 0, 0, MPI.INT, 0);
    refused(() -> w.Pack(a, 0, 0, MPI.INT, null, 0), arg, "outbuf is null");
    refused(() -> w.Unpack(null, 0, a, 0, 0, MPI.INT), arg, "inbuf is null");
    refused(() -> w.Attr_put(1, null), arg, "value is null");
    refused(() -> Comm.Compare(w, null), arg, "comm2 is null");
    refused(() -> w.Create(null), arg, "group is null");
    refused(() -> w.Create_intercomm(null, 0, 0, TAG), arg, "local_comm is null");
    refused(() -> w.Create_cart(null, new boolean[1], false), arg, "dims is null");
    refused(() -> w.Create_cart(new int[1], null, false), arg, "periods is null");
    refused(() -> w.Create_graph(null, a, false), arg, "index is null");
    refused(() -> w.Create_graph(a, null, false), arg, "edges is null");
    refused(() -> Cartcomm.Dims_create(n, null), arg, "dims is null");
    refused(() -> w.Group().Incl(null), arg, "ranks is null");
    refused(() -> w.Group().Excl(null), arg, "ranks is null");
    refused(() -> w.Group().Range_incl(null), arg, "ranges is null");
    refused(() -> w.Group().Range_excl(new int[1][]), arg, "range null");
    refused(() -> Group.Union(w.Group(), null), arg, "group2 is null");
    refused(() -> Group.Translate_ranks(w.Group(), null, w.Group()), arg, "ranks is null");
    refused(() -> Datatype.Indexed(null, a, MPI.INT), arg, "blocklengths is null");
    refused(() -> Datatype.Hindexed(a, null, MPI.INT), arg, "displacements is null");
    refused(() -> Datatype.Struct(a, a, null), arg, "types is null");
    refused(() -> new Status().Get_count(null), arg, "datatype is null");
  }

  /** Types without elements, and with elements that lie on each other. */
  private static void oddTypes(Intracomm w) {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    Datatype empty = Datatype.Struct(new int[0], new int[0], new Datatype[0]);
    Datatype bounds =
        Datatype.Struct(new int[] {1, 1}, new int[] {0, 3}, new Datatype[] {MPI.LB, MPI.UB});
    assertThat(bounds.Extent()).isEqualTo(3);
    for (Datatype type : new Datatype[] {empty, bounds, Datatype.Contiguous(0, MPI.INT)}) {
      type.Commit();
      int[] a = filled(4, 1);
      w.Sendrecv(a, 0, 4, type, to, TAG, a, 0, 4, type, from, TAG);
      w.Sendrecv(a, 0, 0, MPI.INT, to, TAG, a, 0, 4, type, from, TAG);
      w.Bcast(a, 0, 4, type, 0);
      w.Allgather(a, 0, 4, type, a, 0, 4, type);
      w.Gather(a, 0, 4, type, a, 0, 4, type, n - 1);
      w.Scatter(a, 0, 4, type, a, 0, 4, type, 0);
      assertThat(a).isEqualTo(filled(4, 1));
    }
    Datatype twice = Datatype.Indexed(new int[] {1, 1}, new int[] {0, 0}, MPI.INT);
    twice.Commit();
    for (int root = 0; root < n; root++) {
      int[] got = {-1, -1};
      if (w.Rank() == root) {
        w.Bcast(new int[] {8}, 0, 1, twice, root);
      } else {
        refused(() -> w.Bcast(got, 0, 1, twice, 0 == w.Rank() ? 1 : 0), ERR_TYPE, "lie on each");
        w.Bcast(got, 0, 2, MPI.INT, root);
        assertThat(got).containsExactly(8, 8);
      }
    }
    w.Barrier();
  }

  private static final int ERR_TYPE = MPIException.ERR_TYPE;

  private static void byteOrders(Intracomm w) {
    int n = w.Size();
    int to = (w.Rank() + 1) % n;
    int from = (w.Rank() + n - 1) % n;
    ByteOrder other =
        ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
            ? ByteOrder.BIG_ENDIAN
            : ByteOrder.LITTLE_ENDIAN;
    int error = MPIException.ERR_BUFFER;
    ByteBuffer bytes = ByteBuffer.allocateDirect(16).order(other);
    IntBuffer ints = bytes.asIntBuffer();
    int[] got = new int[2];
    refused(() -> w.Send(bytes, 0, 1, MPI.INT, to, TAG), error, other + ", messages of INT");
    refused(() -> w.Irecv(bytes, 0, 1, MPI.CHAR, from, TAG), error, other + ", messages of CHAR");
    refused(() -> w.Send_init(ints, 0, 1, MPI.INT, to, TAG), error, other + ", messages of INT");
    refused(() -> w.Bcast(ints, 0, 1, MPI.INT2, 0), error, other + ", messages of INT2");
    refused(() -> w.Allgather(bytes, 0, 1, MPI.INT, got, 0, 1, MPI.INT), error, "" + other);
    refused(() -> w.Reduce(bytes, 0, got, 0, 1, MPI.INT, MPI.SUM, 0), error, "" + other);
    byte[] in = new byte[4];
    bytes.putInt(0, 0x01020304);
    w.Sendrecv(bytes, 0, 4, MPI.BYTE, to, TAG, in, 0, 4, MPI.BYTE, from, TAG);
    assertThat(in[0]).isEqualTo(bytes.get(0));
    bytes.order(ByteOrder.nativeOrder()).putInt(4, 77);
    IntBuffer view = bytes.asIntBuffer();
    w.Sendrecv(bytes, 1, 1, MPI.INT, to, TAG, got, 1, 1, MPI.INT, from, TAG);
    assertThat(got[1]).isEqualTo(77);
    w.Sendrecv(got, 1, 1, MPI.INT, to, TAG, view, 3, 1, MPI.INT, from, TAG);
    assertThat(bytes.getInt(12)).isEqualTo(77);
    w.Barrier();
  }

  /**
   * Random sends and receives. Each message says its source, tag and number among those of its
   * source and tag; whatever a receive takes must be the next of its source and tag, and what one
   * receive with a wildcard may take is judged by that too.
   */
  private static void randomProgram(Intracomm w) {
    int n = w.Size();
    int rounds = 10;
    for (int round = 0; round < rounds; round++) {
      long seed = 1000L + round;
      Random shared = new Random(seed);
      int messages = 20 + shared.nextInt(60);
      int tags = 1 + shared.nextInt(3);
      int[][] counts = new int[n][n];
      for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
          counts[i][k] = shared.nextInt(messages);
        }
      }
      int me = w.Rank();
      Random own = new Random(seed * 31 + me);
      int incoming = 0;
      for (int i = 0; i < n; i++) {
        incoming += counts[i][me];
      }
      int[][] got = new int[incoming][20_000];
      Request[] receives = new Request[incoming];
      int posted = 0;
      Request[] sends = new Request[messages * n];
      int sent = 0;
      int[] left = counts[me].clone();
      int[][] number = new int[n][tags];
      while (true) {
        boolean more = false;
        for (int to = 0; to < n; to++) {
          if (left[to] > 0 && own.nextInt(3) > 0) {
            left[to]--;
            int tag = own.nextInt(tags);
            int size = own.nextInt(8) == 0 ? 4 + own.nextInt(15_000) : 4;
            int[] data = new int[size];
            data[0] = me;
            data[1] = tag;
            data[2] = number[to][tag]++;
            sends[sent++] =
                own.nextInt(5) == 0
                    ? w.Issend(data, 0, size, MPI.INT, to, tag)
                    : w.Isend(data, 0, size, MPI.INT, to, tag);
          }
          more |= left[to] > 0;
        }
        if (posted < incoming) {
          // Any receive but those would do for any message, so all of them end.
          receives[posted] = w.Irecv(got[posted], 0, 20_000, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
          posted++;
          more = true;
        }
        if (!more) {
          break;
        }
      }
      int[][] next = new int[n][tags];
      for (int i = 0; i < incoming; i++) {
        Status status = receives[i].Wait();
        assertThat(got[i][0]).as("seed %s", seed).isEqualTo(status.source);
        assertThat(got[i][1]).as("seed %s", seed).isEqualTo(status.tag);
        assertThat(got[i][2]).as("seed %s", seed).isEqualTo(next[status.source][status.tag]++);
      }
      Request.Waitall(Arrays.copyOf(sends, sent));
      // Or a message of the next round could take a wildcard of this one elsewhere.
      w.Barrier();
    }
  }
}
