// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.BlockingCall;
import io.talaria.mpj.device.Device;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.IntFunction;

/**
 * A page for each rank, in memory that all ranks of a host share, in native byte order.
 *
 * <pre>
 *    0  | sleep word:4                                     1: asleep, or about to
 *   64  | rings made for this rank:4
 *  128  | waits for: call:4, peer:4, tag:4, context:4, since (ms):8
 *  152  | when it began to wait: messages under way:4, messages not received:4
 *  160  | process id:8                                     0: not there, or at the end
 *  168  | threads about to wake this rank:4                if lost wake-ups are counted
 *  512  | a byte per rank: 1 once it has made its ring for this rank
 * </pre>
 *
 * <p>Unlike the words with an epoch of the other rings of Talaria ({@code SleepWord} of {@code
 * nio}), the sleep word is a flag that the waker takes, by compare-and-set in shared memory: it
 * must change before the doorbell, because the sleeper sleeps in futex(2) as long as the word has
 * its value. The full fences, and why no wake-up is lost, are the same: {@code RingWriter}.
 */
public final class RankPages {
  private static final long SLEEP = 0;
  private static final long RINGS = 64;
  private static final long WAIT_CALL = 128;
  private static final long WAIT_PEER = 132;
  private static final long WAIT_TAG = 136;
  private static final long WAIT_CONTEXT = 140;
  private static final long WAIT_SINCE = 144;
  private static final long UNDER_WAY = 152;
  private static final long NOT_RECEIVED = 156;
  private static final long PID = 160;
  private static final long WAKERS = 168;
  private static final long MADE = 512;

  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  /** Whether lost wake-ups are counted, for tests. */
  static final boolean DIAGNOSE = Boolean.getBoolean("talaria.mpj.diagnose");

  private final MemorySegment pages;
  private final long stride;
  private final long address;

  /** For the one thread of this rank that sleeps. */
  private final MemorySegment timeout = Arena.ofAuto().allocate(16, 8);

  /**
   * Looks at shared memory.
   *
   * @param pages of {@link #bytes} bytes, zeros at the start
   * @param ranks in the job
   */
  public RankPages(MemorySegment pages, int ranks) {
    this.pages = pages;
    this.stride = stride(ranks);
    this.address = pages.address();
  }

  /**
   * How many ranks pages are of.
   *
   * @param bytes how long they are
   * @return 0 if they are of no number of ranks
   */
  public static int ranks(long bytes) {
    int ranks = 1;
    while (bytes(ranks) < bytes) {
      ranks++;
    }
    return bytes(ranks) == bytes ? ranks : 0;
  }

  /**
   * Says which process a rank is.
   *
   * @param rank which
   * @param pid its process id, or 0 at its end
   */
  public void process(int rank, long pid) {
    LONG.setOpaque(pages, rank * stride + PID, pid);
  }

  /**
   * The process id of a rank; 0 if it is not there, or at its end.
   *
   * @param rank which
   */
  public long process(int rank) {
    return (long) LONG.getOpaque(pages, rank * stride + PID);
  }

  private static long stride(int ranks) {
    return (MADE + ranks + 4095) & -4096L;
  }

  /**
   * How much memory the pages take.
   *
   * @param ranks in the job
   */
  public static long bytes(int ranks) {
    return stride(ranks) * ranks;
  }

  /** Rings a rank that sleeps. The caller has published what is new, and a full fence, before. */
  void ringIfAsleep(int rank) {
    long at = rank * stride + SLEEP;
    if ((int) INT.getOpaque(pages, at) != 0 && INT.compareAndSet(pages, at, 1, 0)) {
      Futex.wake(address + at);
    }
  }

  /**
   * Notes that a thread is about to publish something for a rank, and to ring it then, so that a
   * thread that has no core in between is not taken for one that does not ring.
   */
  void willRing(int rank) {
    if (DIAGNOSE) {
      int before = (int) INT.getAndAdd(pages, rank * stride + WAKERS, 1);
      assert before >= 0;
    }
  }

  /** Notes that it has rung the rank, or has seen that it need not. */
  void hasRung(int rank) {
    if (DIAGNOSE) {
      int before = (int) INT.getAndAdd(pages, rank * stride + WAKERS, -1);
      assert before > 0;
    }
  }

  /** Whether a thread may still ring a rank for what it has published. */
  boolean mayBeRung(int rank) {
    return (int) INT.getVolatile(pages, rank * stride + WAKERS) != 0;
  }

  /** Announces sleep. The caller puts a full fence behind, and looks once more. */
  void announceSleep(int rank) {
    INT.setOpaque(pages, rank * stride + SLEEP, 1);
  }

  void awake(int rank) {
    INT.setOpaque(pages, rank * stride + SLEEP, 0);
  }

  boolean announced(int rank) {
    return (int) INT.getVolatile(pages, rank * stride + SLEEP) != 0;
  }

  void sleep(int rank, long limitNs) {
    Futex.await(address + rank * stride + SLEEP, 1, limitNs, timeout);
  }

  void madeRing(int from, int to) {
    BYTE.setRelease(pages, to * stride + MADE + from, (byte) 1);
    int before = (int) INT.getAndAdd(pages, to * stride + RINGS, 1);
    assert before >= 0;
    VarHandle.fullFence();
    ringIfAsleep(to);
  }

  int ringsMadeFor(int rank) {
    return (int) INT.getAcquire(pages, rank * stride + RINGS);
  }

  boolean hasMadeRing(int from, int to) {
    return (byte) BYTE.getAcquire(pages, to * stride + MADE + from) != 0;
  }

  /**
   * Writes what a rank sleeps for.
   *
   * @param rank which
   * @param call code of {@link BlockingCall}
   * @param peer see there
   * @param tag see there
   * @param context see there
   * @param underWay messages that it sends or receives, and that are matched or announced
   * @param notReceived messages that have come and that it has not received
   */
  public void describeWait(
      int rank, int call, int peer, int tag, int context, int underWay, int notReceived) {
    long at = rank * stride;
    if (call != BlockingCall.NOTHING) {
      INT.setOpaque(pages, at + UNDER_WAY, underWay);
      INT.setOpaque(pages, at + NOT_RECEIVED, notReceived);
      INT.setOpaque(pages, at + WAIT_PEER, peer);
      INT.setOpaque(pages, at + WAIT_TAG, tag);
      INT.setOpaque(pages, at + WAIT_CONTEXT, context);
      LONG.setOpaque(pages, at + WAIT_SINCE, System.currentTimeMillis());
    }
    INT.setRelease(pages, at + WAIT_CALL, call);
  }

  /**
   * The rank that a rank waits for, or -1 if it does not wait, or not for a certain one.
   *
   * @param rank which
   */
  public int waitsFor(int rank) {
    long at = rank * stride;
    int call = (int) INT.getAcquire(pages, at + WAIT_CALL);
    boolean ofOne = call != BlockingCall.NOTHING && call != BlockingCall.ANY;
    return ofOne ? Math.max(-1, (int) INT.getOpaque(pages, at + WAIT_PEER)) : -1;
  }

  /**
   * How many messages a rank had under way when it began to wait: sends and receives that are
   * matched, or announced.
   *
   * @param rank which
   */
  public int underWay(int rank) {
    return (int) INT.getOpaque(pages, rank * stride + UNDER_WAY);
  }

  /**
   * How many messages had come to a rank, and were not received, when it began to wait.
   *
   * @param rank which
   */
  public int notReceived(int rank) {
    return (int) INT.getOpaque(pages, rank * stride + NOT_RECEIVED);
  }

  /**
   * What a rank sleeps for, in words.
   *
   * @param rank which
   * @param collectiveCall says which call the tag of a collective is of
   */
  public String waiting(int rank, IntFunction<String> collectiveCall) {
    long at = rank * stride;
    int call = (int) INT.getAcquire(pages, at + WAIT_CALL);
    if (call == BlockingCall.NOTHING) {
      return "does not wait";
    }
    int peer = (int) INT.getOpaque(pages, at + WAIT_PEER);
    int tag = (int) INT.getOpaque(pages, at + WAIT_TAG);
    int context = (int) INT.getOpaque(pages, at + WAIT_CONTEXT);
    long since = System.currentTimeMillis() - (long) LONG.getOpaque(pages, at + WAIT_SINCE);
    String what = "waits in " + BlockingCall.name(call);
    if (call != BlockingCall.ANY) {
      what +=
          (call == BlockingCall.SEND ? " to " : " from ")
              + (peer < 0 ? "any rank" : "rank " + peer)
              + (context % 2 == 1
                  ? " of " + collectiveCall.apply(tag < 0 ? ~tag : tag)
                  : tag < 0 ? ", any tag" : ", tag " + tag)
              + ", communicator "
              + context % Device.BESIDE / 2;
    }
    return what + ", since " + Math.max(0, since / 1000) + " s";
  }
}
