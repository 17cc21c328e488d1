// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Service;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.UnsafeBuffer;

/** The ring of messaging alone, in a file that both sides map; both look without rest. */
final class BareWire implements Wire {
  private static final int CAPACITY = 1 << 20;
  private static final int RING = RingLayout.bytes(CAPACITY);

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

    End(MemorySegment file, boolean client) {
      MemorySegment there = file.asSlice(0, RING);
      MemorySegment back = file.asSlice(RING, RING);
      out = new RingProducer(client ? there : back, CAPACITY);
      in = new RingConsumer(client ? back : there, CAPACITY);
      outBytes = new UnsafeBuffer((client ? there : back).asByteBuffer());
      inBytes = new UnsafeBuffer((client ? back : there).asByteBuffer());
    }

    void put(int kind, Object message) {
      int length = Handmade.size(message);
      long claim;
      while ((claim = out.tryClaim(length)) < 0) {
        Thread.onSpinWait();
      }
      Handmade.write(outBytes, (int) out.offset(claim), kind, message);
      out.commit(claim, length);
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
      boolean question = Handmade.isQuestion(end.inBytes, end.at());
      Object message = Handmade.read(end.inBytes, end.at());
      end.leave();
      if (message instanceof Handmade.HowMany) {
        end.put(Handmade.TALLY, adder.tally());
      } else if (question) {
        end.put(Handmade.PLAIN, message);
      } else {
        adder.take(message);
      }
    }
  }

  @Override
  public void send(Object message) {
    end.put(Handmade.PLAIN, message);
  }

  private Object roundTrip(int kind, Object message) {
    end.put(kind, message);
    while (!end.next()) {
      Thread.onSpinWait();
    }
    Object answer = Handmade.read(end.inBytes, end.at());
    end.leave();
    return answer;
  }

  @Override
  public Tally tally() {
    return (Tally) roundTrip(Handmade.HOW_MANY, new Handmade.HowMany());
  }

  @Override
  public Object ask(Object message) {
    return roundTrip(Handmade.QUESTION, message);
  }

  @Override
  public void close() {
    // The collector unmaps.
  }
}
