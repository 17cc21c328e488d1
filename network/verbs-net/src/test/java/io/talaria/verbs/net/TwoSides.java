// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.talaria.verbs.Access;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

/**
 * A program of two sides that sends so many bytes by each of the ways there are, and checks every
 * one: messages, large messages, writes, reads, additions. Sides may be of one process or of two.
 */
final class TwoSides {
  /** What a side asks for or tells: the first word of a message. */
  private static final long DATA = 1;

  private static final long COUNT = 2;
  private static final long MEMORY = 3;
  private static final long CHECK = 4;
  private static final long BYE = 5;

  private static final int LARGE_BYTES = 1 << 20;
  private static final int REGION_BYTES = 1 << 24;
  private static final int CHUNK_BYTES = 1 << 18;
  private static final int CHUNKS_UNDER_WAY = 8;
  private static final int ADDITIONS = 100;
  private static final long LIMIT_NS = TimeUnit.MINUTES.toNanos(15);

  /** Where what is sent is copied from. */
  private static final MemorySegment NOISE = noise();

  private TwoSides() {}

  private static MemorySegment noise() {
    byte[] bytes = new byte[(1 << 20) + LARGE_BYTES];
    new Random(4711).nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  private static long sum(MemorySegment bytes) {
    CRC32C sum = new CRC32C();
    sum.update(bytes.asByteBuffer());
    return sum.getValue();
  }

  /** Noise that depends on the number, the number, and at the end a checksum of both. */
  private static void fill(MemorySegment to, long kind, long number) {
    long length = to.byteSize() - 8;
    MemorySegment.copy(NOISE, number * 4099 & ((1 << 20) - 1), to, 0, length);
    to.set(JAVA_LONG_UNALIGNED, 0, kind);
    to.set(JAVA_LONG_UNALIGNED, 8, number);
    to.set(JAVA_LONG_UNALIGNED, length, sum(to.asSlice(0, length)));
  }

  private static boolean isSound(MemorySegment bytes, long number) {
    long length = bytes.byteSize() - 8;
    return bytes.get(JAVA_LONG_UNALIGNED, 8) == number
        && bytes.get(JAVA_LONG_UNALIGNED, length) == sum(bytes.asSlice(0, length));
  }

  /** The side that listens. */
  static final class Server implements ConnectionHandler {
    private final VerbsNode node;
    private final CountDownLatch over = new CountDownLatch(1);

    // Confined to the receive thread of the connection.
    private long messages;
    private long large;
    private long wrong;
    private RegisteredMemory memory;

    Server(VerbsNode node) {
      this.node = node;
    }

    @Override
    public void message(Connection connection, Message message) {
      MemorySegment bytes = message.segment();
      long kind = message.longAt(0);
      if (kind == DATA) {
        boolean isLarge = bytes.byteSize() > connection.maxBytes();
        long expected = isLarge ? large++ : messages++;
        wrong += isSound(bytes, expected) ? 0 : 1;
      } else if (kind == COUNT) {
        answer(connection, COUNT, messages, large, wrong);
      } else if (kind == MEMORY) {
        memory =
            node.allocate(
                message.longAt(8), Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
        Slice slice = connection.borrow();
        slice.memory().set(JAVA_LONG_UNALIGNED, 0, MEMORY);
        memory.handle().store(slice.memory(), 8);
        require(connection.send(slice, 8 + RemoteMemory.BYTES) == Connection.SENT, "an answer");
      } else if (kind == CHECK) {
        answer(connection, CHECK, sum(memory.segment().asSlice(0, message.longAt(8))), 0, 0);
      } else {
        answer(connection, BYE, 0, 0, 0);
      }
    }

    private static void answer(Connection connection, long kind, long... words) {
      Slice slice = connection.borrow();
      slice.memory().set(JAVA_LONG_UNALIGNED, 0, kind);
      for (int i = 0; i < words.length; i++) {
        slice.memory().set(JAVA_LONG_UNALIGNED, 8L * (i + 1), words[i]);
      }
      require(connection.send(slice, 8 * (words.length + 1)) == Connection.SENT, "an answer");
    }

    @Override
    public void closed(Connection connection, CloseReason reason) {
      over.countDown();
    }

    /** Waits until the other side has closed. */
    void awaitEnd() throws InterruptedException {
      require(over.await(LIMIT_NS, TimeUnit.NANOSECONDS), "the end of the connection");
    }
  }

  /** The side that connects. */
  static final class Client implements ConnectionHandler {
    private final LinkedBlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private long begun;

    @Override
    public void message(Connection connection, Message message) {
      answers.add(message.segment().toArray(JAVA_BYTE));
    }

    private MemorySegment ask(Connection connection, long kind, long word)
        throws InterruptedException {
      Pair.send(connection, kind, word);
      byte[] answer = answers.poll(LIMIT_NS, TimeUnit.NANOSECONDS);
      require(answer != null, "an answer");
      MemorySegment words = MemorySegment.ofArray(answer);
      require(words.get(JAVA_LONG_UNALIGNED, 0) == kind, "an answer of the same kind");
      return words;
    }

    private void over(Connection connection, long token, int status) {
      (status == OperationListener.DONE ? done : failed).incrementAndGet();
    }

    private void awaitOperations(int maxUnderWay) {
      Pair.await("operations", () -> begun - done.get() - failed.get() <= maxUnderWay);
      require(failed.get() == 0, "that no operation fails");
    }

    /** Does all of it; gives a line that says what. */
    String run(VerbsNode node, Connection connection, long bytes) throws InterruptedException {
      HardwareCounters before = HardwareCounters.now();
      long beganNs = System.nanoTime();
      long messages = messages(connection, bytes);
      long messagesNs = System.nanoTime();
      long large = large(node, connection, bytes / 4);
      MemorySegment counted = ask(connection, COUNT, 0);
      require(counted.get(JAVA_LONG_UNALIGNED, 8) == messages, "all messages, in order");
      require(counted.get(JAVA_LONG_UNALIGNED, 16) == large, "all large messages, in order");
      require(counted.get(JAVA_LONG_UNALIGNED, 24) == 0, "that every checksum is right");
      long memoryNs = System.nanoTime();
      memory(node, connection, bytes);
      long overNs = System.nanoTime();
      MemorySegment bye = ask(connection, BYE, 0);
      require(bye.byteSize() > 0, "an answer");
      connection.close();
      HardwareCounters after = HardwareCounters.now();
      after.requireSince(before, "rdma_sends", messages);
      after.requireSince(before, "sent_pkts", 2 * bytes / 4096);
      return String.format(
          java.util.Locale.ROOT,
          "%d bytes in %d messages in %d ms, %d large messages, %d bytes written and read in %d ms,"
              + " %d additions, every checksum right; %s",
          bytes,
          messages,
          (messagesNs - beganNs) / 1_000_000,
          large,
          bytes,
          (overNs - memoryNs) / 1_000_000,
          ADDITIONS,
          after.isEmpty()
              ? "no hardware counters here"
              : "packets "
                  + after.since(before, "sent_pkts")
                  + ", sends "
                  + after.since(before, "rdma_sends")
                  + ", receiver not ready "
                  + after.since(before, "rcvd_rnr_err")
                  + ", sent again "
                  + after.since(before, "completer_retry_err"));
    }

    private static long messages(Connection connection, long bytes) throws InterruptedException {
      int length = connection.maxBytes();
      long count = (bytes + length - 1) / length;
      for (long i = 0; i < count; i++) {
        Slice slice = connection.awaitSlice(LIMIT_NS);
        require(slice != null, "a slice");
        fill(slice.memory().asSlice(0, length), DATA, i);
        int result;
        while ((result = connection.send(slice, length)) == Connection.BACK_PRESSURED) {
          require(connection.awaitSpace(LIMIT_NS), "room");
        }
        require(result == Connection.SENT, "an open connection");
      }
      return count;
    }

    private long large(VerbsNode node, Connection connection, long bytes)
        throws InterruptedException {
      long count = Math.max(2, bytes / LARGE_BYTES);
      try (RegisteredMemory memory = node.allocate(2L * LARGE_BYTES, Access.REMOTE_READ)) {
        for (long i = 0; i < count; i++) {
          long offset = i % 2 * LARGE_BYTES;
          awaitOperations(1); // the other half may be under way
          fill(memory.segment().asSlice(offset, LARGE_BYTES), DATA, i);
          begun++;
          while (connection.sendLarge(memory, offset, LARGE_BYTES, i, this::over)
              == Connection.BACK_PRESSURED) {
            require(connection.awaitSpace(LIMIT_NS), "room");
            Thread.onSpinWait();
          }
        }
        awaitOperations(0);
      }
      return count;
    }

    private void memory(VerbsNode node, Connection connection, long bytes)
        throws InterruptedException {
      int region = (int) Math.min(REGION_BYTES, Math.max(CHUNK_BYTES, bytes));
      RemoteMemory remote = RemoteMemory.load(ask(connection, MEMORY, region), 8);
      try (RegisteredMemory out = node.allocate(region);
          RegisteredMemory in = node.allocate(region)) {
        for (long at = 0, round = 0; at < bytes; at += region, round++) {
          fillRegion(out.segment(), round);
          for (int offset = 0; offset < region; offset += CHUNK_BYTES) {
            int length = Math.min(CHUNK_BYTES, region - offset);
            operate(connection, remote, out, offset, length, true);
          }
          awaitOperations(0);
          long there = ask(connection, CHECK, region).get(JAVA_LONG_UNALIGNED, 8);
          require(there == sum(out.segment()), "that what was written is there");
          if (round % 4 == 0) {
            for (int offset = 0; offset < region; offset += CHUNK_BYTES) {
              int length = Math.min(CHUNK_BYTES, region - offset);
              operate(connection, remote, in, offset, length, false);
            }
            awaitOperations(0);
            require(in.segment().mismatch(out.segment()) < 0, "that what is read is the same");
          }
        }
        add(connection, remote, out, in);
      }
    }

    private static void fillRegion(MemorySegment region, long round) {
      for (long at = 0; at < region.byteSize(); at += CHUNK_BYTES) {
        long length = Math.min(CHUNK_BYTES, region.byteSize() - at);
        MemorySegment.copy(
            NOISE, (at / CHUNK_BYTES * 7919 + round * 4099) & ((1 << 20) - 1), region, at, length);
      }
    }

    private void operate(
        Connection connection,
        RemoteMemory remote,
        RegisteredMemory local,
        int offset,
        int length,
        boolean write)
        throws InterruptedException {
      awaitOperations(CHUNKS_UNDER_WAY - 1);
      begun++;
      int result;
      while ((result =
              write
                  ? connection.write(remote, offset, local, offset, length, 0, this::over)
                  : connection.read(remote, offset, local, offset, length, 0, this::over))
          == Connection.BACK_PRESSURED) {
        require(connection.awaitSpace(LIMIT_NS), "room");
        Thread.onSpinWait();
      }
      require(result == Connection.SENT, "an open connection");
    }

    private void add(
        Connection connection, RemoteMemory remote, RegisteredMemory out, RegisteredMemory in)
        throws InterruptedException {
      out.segment().set(JAVA_LONG_UNALIGNED, 0, 1000);
      operate(connection, remote, out, 0, 8, true);
      awaitOperations(0);
      for (int i = 0; i < ADDITIONS; i++) {
        begun++;
        require(
            connection.fetchAdd(remote, 0, 3, in, 0, i, this::over) == Connection.SENT,
            "room for an addition");
        awaitOperations(0);
        require(in.segment().get(JAVA_LONG_UNALIGNED, 0) == 1000 + 3L * i, "what was there before");
      }
    }
  }

  static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError("expected " + what);
    }
  }
}
