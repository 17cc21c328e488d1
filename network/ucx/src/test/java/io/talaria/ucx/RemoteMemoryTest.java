// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Put, get and atomics within one JVM. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class RemoteMemoryTest {
  private final Arena arena = Arena.ofConfined();
  private Pair pair;

  @BeforeEach
  void open() {
    pair = new Pair(ErrorHandling.PEER, Feature.RMA, Feature.ATOMIC_32, Feature.ATOMIC_64);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  private MemoryRegion region(boolean allocated, long size) {
    return allocated
        ? MemoryRegion.allocate(pair.context, size)
        : MemoryRegion.register(pair.context, arena.allocate(size, 64));
  }

  private int finish(long request) {
    return pair.finish(pair.left, request);
  }

  @ParameterizedTest
  @CsvSource({"true,8", "true,4194304", "false,8", "false,70000", "false,4194304"})
  void bytesArePutAndGot(boolean allocated, int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment got = arena.allocate(size);
    try (MemoryRegion region = region(allocated, size + 16L);
        RemoteMemory remote = pair.toRight.unpack(RemoteKey.of(region.pack().toBytes()))) {
      assertThat(remote.lengthBytes()).isGreaterThanOrEqualTo(size + 16L);
      assertThat(finish(remote.put(sent, 0, size, 8, 0))).isZero();
      assertThat(finish(pair.toRight.flush())).isZero();
      assertThat(region.memory().asSlice(8, size).mismatch(sent)).isEqualTo(-1);
      assertThat(region.memory().get(ValueLayout.JAVA_LONG, 0)).isZero();
      assertThat(finish(remote.get(got, 0, size, 8))).isZero();
      assertThat(got.mismatch(sent)).isEqualTo(-1);
      assertThat(finish(remote.put(sent, 0, 0, 0, 0))).isZero();
      assertThat(finish(remote.get(got, 0, 0, 0))).isZero();
      pair.left.fence();
      assertThat(finish(pair.left.flush())).isZero();
      assertThat(pair.left.requestsHeld()).isZero();
    }
  }

  private long value(long request) {
    assertThat(request).isGreaterThan(1);
    pair.until(() -> pair.left.status(request) != Status.IN_PROGRESS);
    assertThat(pair.left.status(request)).isZero();
    long value = pair.left.fetched(request);
    assertThat(pair.left.receivedBytes(request)).isZero();
    pair.left.release(request);
    return value;
  }

  private void flushed(long request) {
    assertThat(finish(request)).isZero();
    assertThat(finish(pair.toRight.flush())).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void longsAreChangedAtomically(boolean allocated) {
    try (MemoryRegion region = region(allocated, 64);
        RemoteMemory remote = pair.toRight.unpack(region.pack())) {
      MemorySegment memory = region.memory();
      flushed(remote.addLong(8, 0x7_0000_0001L));
      assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(0x7_0000_0001L);
      assertThat(value(remote.fetchAddLong(8, -1))).isEqualTo(0x7_0000_0001L);
      flushed(remote.orLong(8, 0xf));
      flushed(remote.andLong(8, 0x1_0000_000eL));
      flushed(remote.xorLong(8, -1));
      assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(~0x1_0000_000eL);
      assertThat(value(remote.fetchXorLong(8, -1))).isEqualTo(~0x1_0000_000eL);
      assertThat(value(remote.fetchOrLong(8, 1))).isEqualTo(0x1_0000_000eL);
      assertThat(value(remote.fetchAndLong(8, 3))).isEqualTo(0x1_0000_000fL);
      assertThat(value(remote.swapLong(8, -5))).isEqualTo(3);
      assertThat(value(remote.compareAndSwapLong(8, 4, 9))).isEqualTo(-5);
      assertThat(value(remote.compareAndSwapLong(8, -5, 9))).isEqualTo(-5);
      assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(9);
      assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isZero();
      assertThat(memory.get(ValueLayout.JAVA_LONG, 16)).isZero();
    }
    assertThat(pair.left.requestsHeld()).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void intsAreChangedAtomically(boolean allocated) {
    try (MemoryRegion region = region(allocated, 64);
        RemoteMemory remote = pair.toRight.unpack(region.pack())) {
      MemorySegment memory = region.memory();
      flushed(remote.addInt(4, 17));
      assertThat(value(remote.fetchAddInt(4, -20))).isEqualTo(17);
      assertThat(memory.get(ValueLayout.JAVA_INT, 4)).isEqualTo(-3);
      flushed(remote.andInt(4, 0xff));
      flushed(remote.orInt(4, 0x100));
      flushed(remote.xorInt(4, -1));
      assertThat(value(remote.fetchXorInt(4, -1))).isEqualTo(~0x1fd);
      assertThat(value(remote.fetchOrInt(4, 2))).isEqualTo(0x1fd);
      assertThat(value(remote.fetchAndInt(4, 7))).isEqualTo(0x1ff);
      assertThat(value(remote.swapInt(4, Integer.MIN_VALUE))).isEqualTo(7);
      assertThat(value(remote.compareAndSwapInt(4, 1, 2))).isEqualTo(Integer.MIN_VALUE);
      assertThat(value(remote.compareAndSwapInt(4, Integer.MIN_VALUE, 2)))
          .isEqualTo(Integer.MIN_VALUE);
      assertThat(memory.get(ValueLayout.JAVA_INT, 4)).isEqualTo(2);
      assertThat(memory.get(ValueLayout.JAVA_INT, 0)).isZero();
      assertThat(memory.get(ValueLayout.JAVA_INT, 8)).isZero();
    }
  }

  @Test
  void placesOutsideThrow() {
    MemorySegment buffer = arena.allocate(128);
    try (MemoryRegion region = region(false, 64);
        RemoteMemory remote = pair.toRight.unpack(region.pack())) {
      assertThatThrownBy(() -> remote.put(buffer, 0, 8, 57, 0))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> remote.put(buffer, 0, 8, -8, 0))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> remote.get(buffer, 0, 65, 0))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> remote.get(buffer, 64, 65, 0))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> remote.addLong(64, 1)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> remote.addLong(4, 1))
          .withMessageContaining("no multiple");
      assertThatIllegalArgumentException().isThrownBy(() -> remote.swapInt(2, 1));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> remote.get(buffer.asReadOnly(), 0, 8, 0));
      assertThatIllegalArgumentException().isThrownBy(() -> remote.put(buffer, 0, 8, 0, 16));
      assertThat(pair.left.requestsHeld()).isZero();
    }
  }

  @Test
  void damagedKeysAreRefused() {
    try (MemoryRegion region = region(true, 64)) {
      byte[] bytes = region.pack().toBytes();
      assertThat(RemoteKey.of(bytes)).isEqualTo(region.pack()).hasSameHashCodeAs(region.pack());
      bytes[bytes.length - 1] ^= 1;
      assertThatIllegalArgumentException()
          .isThrownBy(() -> RemoteKey.of(bytes))
          .withMessageContaining("checksum");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> RemoteKey.of(pair.right.address().toBytes()))
          .withMessageContaining("no remote key");
      assertThatIllegalArgumentException().isThrownBy(() -> RemoteKey.of(new byte[28]));
    }
    MemoryRegion closed = region(true, 64);
    closed.close();
    assertThatIllegalStateException().isThrownBy(closed::pack);
  }

  @Test
  void closedMemoryThrows() {
    MemorySegment buffer = arena.allocate(8);
    try (MemoryRegion region = region(true, 64)) {
      RemoteMemory first = pair.toRight.unpack(region.pack());
      RemoteMemory second = pair.toRight.unpack(region.pack());
      RemoteMemory third = pair.toRight.unpack(region.pack());
      second.close();
      second.close();
      assertThatIllegalStateException()
          .isThrownBy(() -> second.put(buffer, 0, 8, 0, 0))
          .withMessage("the remote memory is closed");
      assertThat(finish(first.put(buffer, 0, 8, 0, 0))).isZero();
      pair.toRight.close();
      assertThat(first.isOpen()).isFalse();
      assertThat(third.isOpen()).isFalse();
      assertThatIllegalStateException()
          .isThrownBy(() -> third.fetchAddLong(0, 1))
          .withMessageContaining("is closed");
      assertThatIllegalStateException().isThrownBy(() -> pair.toRight.unpack(region.pack()));
      third.close();
    }
  }

  @Test
  void memoryMayBeClosedAndRequestsReleasedWhileOperationsAreUnderWay() {
    int size = 4 << 20;
    MemorySegment buffer = Pair.pattern(arena, size);
    try (MemoryRegion region = region(false, size)) {
      for (int i = 0; i < 10; i++) {
        RemoteMemory remote = pair.toRight.unpack(region.pack());
        long put = remote.put(buffer, 0, size, 0, 0);
        long add = remote.fetchAddLong(0, 1);
        remote.close();
        if (put > 0) {
          pair.left.release(put);
        }
        pair.left.release(add);
        assertThat(pair.left.requestsHeld()).isZero();
      }
      assertThat(finish(pair.toRight.flush())).isZero();
    }
  }

  @Test
  void featuresAreRequired() {
    try (Pair other = new Pair(ErrorHandling.PEER, Feature.RMA);
        MemoryRegion region = MemoryRegion.allocate(other.context, 64);
        RemoteMemory remote = other.toRight.unpack(region.pack())) {
      assertThatIllegalStateException()
          .isThrownBy(() -> remote.addLong(0, 1))
          .withMessageContaining("ATOMIC_64");
      assertThatIllegalStateException()
          .isThrownBy(() -> remote.swapInt(0, 1))
          .withMessageContaining("ATOMIC_32");
      assertThatIllegalStateException()
          .isThrownBy(() -> other.left.onMessage(1, message -> {}))
          .withMessageContaining("ACTIVE_MESSAGE");
    }
    try (Pair other = new Pair(ErrorHandling.PEER, Feature.TAG);
        MemoryRegion region = MemoryRegion.allocate(other.context, 64)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> other.toRight.unpack(region.pack()))
          .withMessageContaining("without any of the features");
    }
  }

  @Test
  void theValueOfAnOtherRequestIsNotFetched() {
    try (MemoryRegion region = region(true, 64);
        RemoteMemory remote = pair.toRight.unpack(region.pack())) {
      MemorySegment buffer = arena.allocate(8);
      long put = remote.put(buffer, 0, 8, 0, SendFlags.ALWAYS_REQUEST);
      assertThat(put).isGreaterThan(1);
      assertThat(pair.left.describe(put)).isNotBlank();
      pair.until(() -> pair.left.status(put) != Status.IN_PROGRESS);
      assertThatIllegalArgumentException().isThrownBy(() -> pair.left.fetched(put));
      assertThat(pair.left.describe(put)).isEqualTo("Success");
      pair.left.release(put);
    }
  }
}
