// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The ring's interleavings, as tests of jcstress; {@link RingStressedTest} runs them. Each meets
 * the streams themselves, but for the negative control, which shows that such a test can fail. The
 * negative controls of sleep and wake-up are in {@link io.talaria.nio.memory.SleepWordStress}.
 */
public final class RingStress {
  private RingStress() {}

  /** What one of several reads and writes makes of the bytes so far: their count, or -100. */
  private static int checked(ByteBuffer got, int first) {
    for (int i = 0; i < got.position(); i++) {
      if (got.get(i) != (byte) (first + i)) {
        return -100;
      }
    }
    return got.position();
  }

  /** A position is published while the other side publishes a wait. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the reader saw the byte")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the reader saw the byte, and is rung")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the reader sleeps, and is rung")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "the reader sleeps for ever")
  @State
  public static class WriteAgainstSleep {
    private final StressedRing ring = new StressedRing();

    /** Writes a byte. */
    @Actor
    public void writer() {
      int unused = ring.client.write(StressedRing.bytes(0, 1));
    }

    /** Falls asleep if there is nothing. */
    @Actor
    public void reader(II_Result result) {
      result.r1 = ring.server.await(TransportStream.READ) ? 1 : 0;
    }

    /** Looks who has been rung. */
    @Arbiter
    public void after(II_Result result) {
      result.r2 = ring.clientDoorbells.rung;
    }
  }

  /** The same for space. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the writer saw the room")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the writer saw the room, and is rung")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the writer sleeps, and is rung")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "the writer sleeps for ever")
  @State
  public static class ReadAgainstSleep {
    private final StressedRing ring = new StressedRing();
    private final ByteBuffer room = ByteBuffer.allocate(2 * StressedRing.RING);

    /** Fills the ring, and takes what is in the inline one, which nobody waits for. */
    public ReadAgainstSleep() {
      int unused = ring.fillFromClient() + ring.server.read(room);
      room.clear();
    }

    /** Empties the ring. */
    @Actor
    public void reader() {
      int unused = ring.server.read(room);
    }

    /** Falls asleep if there is no room. */
    @Actor
    public void writer(II_Result result) {
      result.r1 = ring.client.await(TransportStream.WRITE) ? 1 : 0;
    }

    /** Looks who has been rung. */
    @Arbiter
    public void after(II_Result result) {
      result.r2 = ring.serverDoorbells.rung;
    }
  }

  /** The writer leaves the inline ring for the next while the reader reads. */
  @JCStressTest
  @Outcome(id = "1400, 0", expect = ACCEPTABLE, desc = "all bytes, in order")
  @Outcome(expect = FORBIDDEN, desc = "bytes are lost, repeated or mixed up")
  @State
  public static class MoveAgainstRead {
    private final StressedRing ring = new StressedRing();
    private final ByteBuffer got = ByteBuffer.allocate(2000);

    /** Writes more than the inline ring takes. */
    @Actor
    public void writer() {
      int unused =
          ring.client.write(StressedRing.bytes(0, 700))
              + ring.client.write(StressedRing.bytes(700, 700));
    }

    /** Reads meanwhile. */
    @Actor
    public void reader() {
      for (int i = 0; i < 4; i++) {
        int unused = ring.server.read(got);
      }
    }

    /** Reads the rest. */
    @Arbiter
    public void after(II_Result result) {
      while (ring.server.read(got) > 0) {
        // Ring after ring.
      }
      result.r1 = checked(got, 0);
      result.r2 = ring.server.unread() ? 1 : 0;
    }
  }

  /** The output returns to the page, and goes on, while the reader reads. */
  @JCStressTest
  @Outcome(id = "2200, 0", expect = ACCEPTABLE, desc = "all bytes, in order")
  @Outcome(expect = FORBIDDEN, desc = "bytes are lost, repeated or mixed up")
  @State
  public static class ReturnAgainstRead {
    private final StressedRing ring = new StressedRing();
    private final ByteBuffer got = ByteBuffer.allocate(3000);

    /** Has all but the last bytes read, which are in a ring of a slab. */
    public ReturnAgainstRead() {
      int unused = ring.client.write(StressedRing.bytes(0, 1500)) + ring.server.read(got);
      boolean unusedToo = ring.client.rest(); // looks for the first time
    }

    /** Returns, and writes more than the page takes. */
    @Actor
    public void writer() {
      boolean unusedToo = ring.client.rest();
      int unused =
          ring.client.write(StressedRing.bytes(1500, 300))
              + ring.client.write(StressedRing.bytes(1800, 400));
    }

    /** Reads meanwhile. */
    @Actor
    public void reader() {
      for (int i = 0; i < 4; i++) {
        int unused = ring.server.read(got);
      }
    }

    /** Reads the rest; the writer has come back to where it was. */
    @Arbiter
    public void after(II_Result result) {
      while (ring.server.read(got) > 0) {
        // Ring after ring.
      }
      result.r1 = checked(got, 0);
      result.r2 = ring.client.outBytes() == ConnectionLayout.INLINE_RING_BYTES ? 0 : 1;
    }
  }

  /** The output ends while a writer is in the middle of its copy. */
  @JCStressTest
  @Outcome(id = "3, 3", expect = ACCEPTABLE, desc = "taken, and it stands before the end")
  @Outcome(id = "-3, 0", expect = ACCEPTABLE, desc = "too late")
  @Outcome(
      id = "-3, 3",
      expect = ACCEPTABLE,
      desc = "too late, but the peer has got it all the same")
  @Outcome(expect = FORBIDDEN, desc = "bytes that were taken stand behind the end")
  @State
  public static class FinishAgainstWrite {
    private final StressedRing ring = new StressedRing();

    /** Writes. */
    @Actor
    public void writer(II_Result result) {
      result.r1 = ring.client.write(StressedRing.bytes(0, 3));
    }

    /** Ends, and reads at the other side to that end. */
    @Actor
    public void ender(II_Result result) {
      ring.client.finishOutput();
      result.r2 = toTheEnd(ring.server);
    }
  }

  private static int toTheEnd(ShmStream stream) {
    ByteBuffer got = ByteBuffer.allocate(9);
    int n;
    do {
      n = stream.read(got);
    } while (n >= 0);
    return n == TransportStream.END ? checked(got, 0) : n;
  }

  /** Negative control: an end that does not ask whether a write is under way. */
  @JCStressTest
  @Outcome(id = "3, 0", expect = FORBIDDEN, desc = "bytes that were taken stand behind the end")
  @Outcome(expect = ACCEPTABLE, desc = "before the end, or not taken")
  @State
  public static class EndWithoutAsking {
    private final StressedRing ring = new StressedRing();
    private final ByteBuffer control = StressedRing.memory(ring.client.slot);

    /** Writes. */
    @Actor
    public void writer(II_Result result) {
      result.r1 = ring.client.write(StressedRing.bytes(0, 3));
    }

    /** Ends in shared memory alone, and reads at the other side to that end. */
    @Actor
    public void ender(II_Result result) {
      ConnectionLayout.setRelease(
          control,
          ConnectionLayout.side(0, ring.client.slot) + ConnectionLayout.OUT_END,
          ConnectionLayout.OUT_FINISHED);
      result.r2 = toTheEnd(ring.server);
    }
  }
}
