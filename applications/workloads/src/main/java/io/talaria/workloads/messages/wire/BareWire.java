// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.bench.compare.Service;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.workloads.messages.objects.Block;
import io.talaria.workloads.messages.objects.Tally;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/** The ring of messaging alone, in a file that both sides map; both look without rest. */
public final class BareWire implements Wire {
  private static final int CAPACITY = 1 << 20;
  private static final int RING = RingLayout.bytes(CAPACITY);

  /**
   * Arrays go in slices: as by hand with {@link #ARRAY} numbers, bytes of all, of this one; these.
   */
  static final int SLICE = 32 << 10;

  private static final int SLICE_HEADER = 16;
  private static final short ARRAY = -1;

  private final End end;

  BareWire(MessagesJob job) throws IOException {
    end = new End(map(job), true);
  }

  private static MemorySegment map(MessagesJob job) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            Path.of(job.directory()).resolve("bare"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      return file.map(FileChannel.MapMode.READ_WRITE, 0, 2L * RING, Arena.ofAuto());
    }
  }

  /** One side's ends of both rings. */
  private static final class End {
    private final RingProducer out;
    private final RingConsumer in;
    private final UnsafeBuffer outBytes;
    private final UnsafeBuffer inBytes;
    private byte[] array;
    private int filled;

    End(MemorySegment file, boolean client) {
      MemorySegment there = file.asSlice(0, RING);
      MemorySegment back = file.asSlice(RING, RING);
      out = new RingProducer(client ? there : back, CAPACITY);
      in = new RingConsumer(client ? back : there, CAPACITY);
      outBytes = new UnsafeBuffer((client ? there : back).asByteBuffer());
      inBytes = new UnsafeBuffer((client ? back : there).asByteBuffer());
    }

    void put(int kind, Object message) {
      put(kind, message, BusySpinIdleStrategy.INSTANCE);
    }

    void put(int kind, Object message, IdleStrategy full) {
      if (message instanceof Block block) {
        putArray(kind, block.bytes(), full);
        return;
      }
      int length = Handmade.size(message);
      long claim = claim(length, full);
      Handmade.write(outBytes, (int) out.offset(claim), kind, message);
      out.commit(claim, length);
    }

    private long claim(int length, IdleStrategy full) {
      long claim;
      while ((claim = out.tryClaim(length)) < 0) {
        full.idle();
      }
      return claim;
    }

    private void putArray(int kind, byte[] bytes, IdleStrategy full) {
      for (int from = 0; from < bytes.length; from += SLICE) {
        int part = Math.min(SLICE, bytes.length - from);
        int length = SLICE_HEADER + ((part + Long.BYTES - 1) & -Long.BYTES);
        long claim = claim(length, full);
        int to = (int) out.offset(claim);
        outBytes.putShort(to + Handmade.KIND, (short) kind);
        outBytes.putShort(to + Handmade.COUNT, ARRAY);
        outBytes.putInt(to + 8, bytes.length);
        outBytes.putInt(to + 12, part);
        outBytes.putBytes(to + SLICE_HEADER, bytes, from, part);
        out.commit(claim, length);
      }
    }

    /** The object that is whole with the record that was there; or null. */
    Object read() {
      int at = at();
      if (inBytes.getShort(at + Handmade.COUNT) != ARRAY) {
        return Handmade.read(inBytes, at);
      }
      if (filled == 0) {
        array = new byte[inBytes.getInt(at + 8)];
      }
      int part = inBytes.getInt(at + 12);
      inBytes.getBytes(at + SLICE_HEADER, array, filled, part);
      filled += part;
      if (filled < array.length) {
        return null;
      }
      filled = 0;
      return new Block(array);
    }

    /** Whether a record was there; it is at {@link #at}. */
    boolean next() {
      if (in.peek() != 0) {
        return true;
      }
      in.publish();
      return false;
    }

    int at() {
      return (int) in.offset();
    }

    void leave() {
      in.advance();
      if (in.unpublishedBytes() > CAPACITY / 8) {
        in.publish();
      }
    }
  }

  static Service serve(MessagesJob job) throws IOException {
    End end = new End(map(job), false);
    Thread thread = new Thread(() -> receive(end), "receiver");
    thread.setDaemon(true);
    thread.start();
    return Service.of(0, thread::interrupt);
  }

  private static void receive(End end) {
    Tally.Adder adder = new Tally.Adder();
    while (!Thread.currentThread().isInterrupted()) {
      if (!end.next()) {
        Thread.onSpinWait();
        continue;
      }
      boolean request = Handmade.isRequest(end.inBytes, end.at());
      Object message = end.read();
      end.leave();
      if (message == null) {
        continue;
      }
      if (message instanceof Handmade.HowMany) {
        end.put(Handmade.TALLY, adder.tally());
      } else if (request) {
        end.put(Handmade.PLAIN, message);
      } else {
        adder.take(message);
      }
    }
  }

  @Override
  public ObjectSender sender(IdleStrategy full) {
    return message -> end.put(Handmade.PLAIN, message, full);
  }

  private Object roundTrip(int kind, Object message) {
    end.put(kind, message);
    Object response;
    do {
      while (!end.next()) {
        Thread.onSpinWait();
      }
      response = end.read();
      end.leave();
    } while (response == null);
    return response;
  }

  @Override
  public Tally tally() {
    return (Tally) roundTrip(Handmade.HOW_MANY, new Handmade.HowMany());
  }

  @Override
  public Object request(Object message) {
    return roundTrip(Handmade.REQUEST, message);
  }

  @Override
  public void close() {
    // The collector unmaps.
  }
}
