// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.transport.TransportDevice;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Waiting;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Large messages between two ranks: which go from memory to memory, and what is registered. */
@Timeout(120)
class FetchingTest {
  private static final int LARGE = 1 << 20;
  private static final int MANY_PIECES = 5 << 20;

  /** Much more than is read at a time. */
  private static final int PARTS = 32 << 20;

  private final VerbsFrameTransport[] transports = new VerbsFrameTransport[2];
  private final TransportDevice[] devices = new TransportDevice[2];
  private final Engine[] engines = new Engine[2];

  @BeforeEach
  void verbs() {
    String unavailableReason = LoopbackVerbs.prepare();
    assumeTrue(unavailableReason.isEmpty(), unavailableReason);
  }

  private void open(long registeredBytes) throws IOException {
    for (int i = 0; i < 2; i++) {
      Links.Options options =
          new Links.Options()
              .secret(new byte[32])
              .bufferBytes(VerbsFrameTransport.SETUP_BUFFER_BYTES)
              .graceNs(0);
      transports[i] =
          new VerbsFrameTransport(
              i, 2, new Links(i, 2, options), null, 16384, 1 << 20, registeredBytes, 0);
    }
    List<String> addresses = List.of(transports[0].rankAddress(), transports[1].rankAddress());
    for (int i = 0; i < 2; i++) {
      transports[i].rankAddresses(addresses);
      devices[i] = new TransportDevice(transports[i], i, 2, 1000, 1 << 20, null);
      engines[i] = new Engine(devices[i], Waiting.ASLEEP);
    }
  }

  @AfterEach
  void close() {
    for (Engine engine : engines) {
      if (engine != null) {
        engine.close();
      }
    }
  }

  private static MemorySegment memory(int bytes) {
    MemorySegment memory = Arena.ofAuto().allocate(bytes, 8);
    for (int i = 0; i < bytes; i += 1000) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i / 1000));
    }
    return memory;
  }

  private record Received(int error, long bytes, RuntimeException failure) {}

  private Received receive(int rank, Object into, int bytes) {
    return engines[rank].receive(
        into,
        BaseType.BYTE,
        0,
        bytes,
        1 - rank,
        5,
        0,
        op -> new Received(op.error, op.bytes, op.failure));
  }

  private void send(Object from, int bytes) {
    engines[0].send(from, BaseType.BYTE, 0, bytes, 1, 5, 0, false);
  }

  /** Sends and receives, with a thread for the sender; gives what the receiver has got. */
  private Received move(Object from, Object into, int bytes) throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread sender =
        new Thread(
            () -> {
              try {
                send(from, bytes);
              } catch (RuntimeException e) {
                failure.set(e);
              }
            });
    sender.start();
    Received received = receive(1, into, bytes);
    sender.join();
    assertThat(failure.get()).isNull();
    return received;
  }

  @Test
  void memoryIsRegisteredOnceAndReadManyTimes() throws Exception {
    open(1 << 26);
    MemorySegment out = memory(MANY_PIECES);
    MemorySegment in = Arena.ofAuto().allocate(MANY_PIECES, 8);
    for (int i = 0; i < 4; i++) {
      in.fill((byte) 0);
      assertThat(move(out, in, MANY_PIECES).error()).isEqualTo(Operation.OK);
      assertThat(in.mismatch(out)).isEqualTo(-1);
    }
    assertThat(move(out, in, LARGE).bytes()).isEqualTo(LARGE);
    String both = "5 uses of registered memory, 80 % of them without registering; 0 ";
    assertThat(transports[0].registered()).startsWith(both);
    assertThat(transports[1].registered()).startsWith(both);
    assertThat(devices[0].numbered() + devices[1].numbered()).isZero();
  }

  @Test
  void arraysAreCopied() throws Exception {
    open(1 << 26);
    byte[] in = new byte[LARGE];
    assertThat(move(memory(LARGE).toArray(ValueLayout.JAVA_BYTE), in, LARGE).error())
        .isEqualTo(Operation.OK);
    assertThat(MemorySegment.ofArray(in).mismatch(memory(LARGE))).isEqualTo(-1);
    assertThat(transports[0].registered() + transports[1].registered()).isEmpty();
    // One side's memory is of no use without the other's.
    assertThat(move(memory(LARGE), new byte[LARGE], LARGE).error()).isEqualTo(Operation.OK);
    assertThat(transports[1].registered()).isEmpty();
  }

  @Test
  void withoutRegistrationsAllIsCopied() throws Exception {
    open(0);
    MemorySegment in = Arena.ofAuto().allocate(LARGE, 8);
    assertThat(move(memory(LARGE), in, LARGE).error()).isEqualTo(Operation.OK);
    assertThat(in.mismatch(memory(LARGE))).isEqualTo(-1);
    assertThat(transports[0].registered() + transports[1].registered()).isEmpty();
  }

  @Test
  void memoryThatComesAgainAtTheSamePlaceIsRegisteredAgain() throws Exception {
    open(1 << 26);
    MemorySegment out = memory(LARGE);
    for (int i = 0; i < 3; i++) {
      try (Arena arena = Arena.ofShared()) {
        MemorySegment in = arena.allocate(LARGE, 8);
        assertThat(move(out, in, LARGE).error()).isEqualTo(Operation.OK);
        assertThat(in.mismatch(out)).isEqualTo(-1);
      }
    }
    assertThat(transports[0].registered()).startsWith("3 uses of registered memory, 66 %");
    assertThat(transports[1].registered())
        .startsWith("3 uses of registered memory, 0 %")
        .contains("2 were of freed memory");
  }

  /** The output to rank 1, when no other thread uses it any more. */
  private FrameOutput connected() throws Exception {
    assertThat(move(new byte[8], new byte[8], 8).error()).isEqualTo(Operation.OK);
    FrameOutput output = transports[0].connect(1);
    while (output.claim(64) < 0) {
      engines[0].progress();
      engines[1].progress();
    }
    return output;
  }

  /** An RTS of rank 0. */
  private static void announce(FrameOutput output, long bytes, long address, long key) {
    long at = output.claim(64);
    MemorySegment to = output.segment();
    to.set(ValueLayout.JAVA_INT_UNALIGNED, at + 4, 3 | 1 << 8);
    to.set(ValueLayout.JAVA_INT_UNALIGNED, at + 8, 0);
    to.set(ValueLayout.JAVA_INT_UNALIGNED, at + 12, 5);
    to.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 16, bytes);
    to.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 24, 0);
    to.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 32, address);
    to.set(ValueLayout.JAVA_LONG_UNALIGNED, at + 40, key);
    output.publish(at, 48);
  }

  @Test
  void aKeyThatOpensNothingEndsTheLink() throws Exception {
    open(1 << 26);
    announce(connected(), LARGE, 4096, 0x7fff_fff0L);
    MemorySegment in = Arena.ofAuto().allocate(LARGE, 8);
    Received received = receive(1, in, LARGE);
    assertThat(received.error()).isEqualTo(Operation.FAILED);
    assertThat(received.failure())
        .isInstanceOf(RankGoneException.class)
        .hasMessageContaining("rank 0 is gone: verbs say: ");
    assertThat(devices[1].numbered()).isZero();
  }

  /** Begins to move a large message, and stops when a part of it has been read. */
  private Operation[] underWay(MemorySegment out, MemorySegment in) throws Exception {
    assertThat(move(new byte[8], new byte[8], 8).error()).isEqualTo(Operation.OK);
    int bytes = (int) out.byteSize();
    out.fill((byte) 7);
    Operation[] both = {
      engines[0].isend(out, BaseType.BYTE, 0, bytes, 1, 5, 0, false),
      engines[1].irecv(in, BaseType.BYTE, 0, bytes, 0, 5, 0)
    };
    while (in.get(ValueLayout.JAVA_BYTE, 0) != 7) {
      engines[0].progress();
      engines[1].progress();
    }
    assertThat(both[0].over() || both[1].over()).as("only a part of it").isFalse();
    return both;
  }

  /** Makes progress until an operation has failed because the peer is gone. */
  private void failsAlone(int rank, Operation op) {
    while (!op.over()) {
      engines[rank].progress();
    }
    Received ended = engines[rank].finish(op, o -> new Received(o.error, o.bytes, o.failure));
    assertThat(ended.error()).isEqualTo(Operation.FAILED);
    assertThat(ended.failure())
        .isInstanceOf(RankGoneException.class)
        .hasMessageStartingWith("rank " + (1 - rank) + " is gone: ");
    assertThat(devices[rank].numbered()).isZero();
  }

  @Test
  void aRankThatEndsWhileItsMemoryIsReadFailsTheReceive() throws Exception {
    open(1 << 27);
    MemorySegment in = Arena.ofAuto().allocate(PARTS, 8);
    try (Arena arena = Arena.ofShared()) {
      Operation[] both = underWay(arena.allocate(PARTS, 8), in);
      engines[0].close();
      failsAlone(1, both[1]);
    }
    // From now on nothing of it touches the receiver's memory, which the program may use again.
    in.fill((byte) 9);
    for (int i = 0; i < 1000; i++) {
      engines[1].progress();
    }
    for (int i = 0; i < PARTS; i++) {
      assertThat(in.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) 9);
    }
    assertThat(receive(1, in, PARTS).failure()).isInstanceOf(RankGoneException.class);
  }

  @Test
  void aRankThatEndsWhileItReadsFailsTheSend() throws Exception {
    open(1 << 27);
    try (Arena arena = Arena.ofShared()) {
      Operation[] both = underWay(arena.allocate(PARTS, 8), Arena.ofAuto().allocate(PARTS, 8));
      engines[1].close();
      failsAlone(0, both[0]);
    }
    assertThat(transports[0].registered()).startsWith("1 uses of registered memory");
  }
}
