// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.verbs.binding.VerbsConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Variant.class)
class RemoteMemoryTest {
  @Test
  void remoteMemoryIsWrittenAndRead() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      Pair.Side left = pair.left;
      MemoryRegion far = pair.right.region;
      left.put(0, "written from afar");
      left.send
          .write(0)
          .id(1)
          .local(left.region, 0, 17)
          .remote(far.remoteAddress() + 100, far.remoteKey())
          .signaled();
      left.post(0);
      left.success(1);
      assertThat(left.done.opcode(0)).isEqualTo(Opcode.WRITE);
      assertThat(pair.right.get(100, 17)).isEqualTo("written from afar");
      left.send
          .read(0)
          .id(2)
          .local(left.region, 500, 12)
          .remote(far.remoteAddress() + 105, far.remoteKey())
          .signaled();
      left.post(0);
      left.success(2);
      assertThat(left.done.opcode(0)).isEqualTo(Opcode.READ);
      assertThat(left.get(500, 12)).isEqualTo("en from afar");
    }
  }

  @Test
  void aWriteWithImmediateWordTellsTheReceiver() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      pair.right.expect(0, 9, 0, 0);
      pair.left.put(0, "data");
      pair.left
          .send
          .writeImmediate(0, -2)
          .id(1)
          .local(pair.left.region, 0, 4)
          .remote(pair.right.region.remoteAddress() + 8, pair.right.region.remoteKey())
          .signaled();
      pair.left.post(0);
      pair.right.success(9);
      assertThat(pair.right.done.opcode(0)).isEqualTo(Opcode.RECEIVE_WRITE_IMMEDIATE);
      assertThat(pair.right.done.immediate(0)).isEqualTo(-2);
      assertThat(pair.right.get(8, 4)).isEqualTo("data");
      pair.left.success(1);
    }
  }

  @Test
  void atomicOperationsGiveTheOldValue() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      assumeTrue(
          pair.context.attributes().atomics() != DeviceAttributes.Atomics.NONE, "no atomics");
      MemoryRegion far = pair.right.region;
      far.memory().set(JAVA_LONG, 64, 40);
      pair.left
          .send
          .fetchAdd(0, 2)
          .id(1)
          .local(pair.left.region, 0, 8)
          .remote(far.remoteAddress() + 64, far.remoteKey())
          .signaled();
      pair.left.post(0);
      pair.left.success(1);
      assertThat(pair.left.done.opcode(0)).isEqualTo(Opcode.FETCH_ADD);
      assertThat(pair.left.region.memory().get(JAVA_LONG, 0)).isEqualTo(40);
      assertThat(far.memory().get(JAVA_LONG, 64)).isEqualTo(42);
      for (long expected : new long[] {42, 42}) {
        pair.left
            .send
            .compareSwap(0, expected, 99)
            .id(2)
            .local(pair.left.region, 8, 8)
            .remote(far.remoteAddress() + 64, far.remoteKey())
            .signaled();
        pair.left.post(0);
        pair.left.success(2);
      }
      assertThat(pair.left.done.opcode(0)).isEqualTo(Opcode.COMPARE_SWAP);
      assertThat(pair.left.region.memory().get(JAVA_LONG, 8)).isEqualTo(99);
      assertThat(far.memory().get(JAVA_LONG, 64)).isEqualTo(99);
    }
  }

  @Test
  void aWrongKeyFailsThatQueuePairOnly() {
    try (Pair pair = new Pair(QueuePair.Type.RC);
        Pair other = new Pair(QueuePair.Type.RC)) {
      pair.left
          .send
          .read(0)
          .id(1)
          .local(pair.left.region, 0, 8)
          .remote(pair.right.region.remoteAddress(), pair.right.region.remoteKey() ^ 0x7700)
          .signaled();
      pair.left.send.send(1).id(2).local(pair.left.region, 0, 8);
      assertThat(pair.left.queuePair.post(pair.left.send, 0, 2)).isZero();
      int seen = 0;
      int[] statuses = new int[2];
      while (seen < 2) {
        int count = Variant.completions(pair.left.queue, pair.left.done);
        for (int i = 0; i < count; i++) {
          assertThat(pair.left.done.id(i)).isEqualTo(seen + 1L);
          statuses[seen++] = pair.left.done.status(i);
        }
      }
      assertThat(statuses).containsExactly(Status.REMOTE_ACCESS_ERROR, Status.FLUSHED);
      assertThat(Status.text(Status.FLUSHED)).containsIgnoringCase("flush");
      other.right.expect(0, 3, 0, 64);
      other.left.send.send(0).id(4).local(other.left.region, 0, 8).signaled();
      other.left.post(0);
      other.right.success(3);
    }
  }

  @Test
  void theEndOfARegionIsTheEnd() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      MemoryRegion far = pair.right.region;
      pair.left
          .send
          .write(0)
          .id(1)
          .local(pair.left.region, 0, 8)
          .remote(far.remoteAddress() + far.byteSize() - 7, far.remoteKey())
          .signaled();
      pair.left.post(0);
      Variant.completions(pair.left.queue, pair.left.done);
      assertThat(pair.left.done.status(0)).isEqualTo(Status.REMOTE_ACCESS_ERROR);
    }
  }

  @Test
  void aWindowGivesAPartUnderAKeyOfItsOwnUntilItIsInvalidated() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      assumeWindowsOfType2(pair.context);
      try (MemoryRegion region =
              pair.domain.allocate(4096, Access.LOCAL_WRITE, Access.WINDOW_BIND);
          MemoryWindow window = pair.domain.window(2)) {
        pair.right.send.bind(0, window, region, 1024, 64, Access.REMOTE_WRITE).id(1).signaled();
        pair.right.post(0);
        pair.right.success(1);
        pair.left.put(0, "window");
        pair.left
            .send
            .write(0)
            .id(2)
            .local(pair.left.region, 0, 6)
            .remote(region.remoteAddress() + 1024, window.remoteKey())
            .signaled();
        pair.left.post(0);
        pair.left.success(2);
        assertThat(
                region.memory().asSlice(1024, 6).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE))
            .isEqualTo("window".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        pair.right.send.invalidate(0, window.remoteKey()).id(3).signaled();
        pair.right.post(0);
        pair.right.success(3);
        pair.left.post(0);
        Variant.completions(pair.left.queue, pair.left.done);
        assertThat(pair.left.done.status(0)).isNotEqualTo(Status.SUCCESS);
      }
    }
  }

  private static void assumeWindowsOfType2(Context context) {
    int wanted =
        VerbsConstants.IBV_DEVICE_MEM_WINDOW_TYPE_2A | VerbsConstants.IBV_DEVICE_MEM_WINDOW_TYPE_2B;
    assumeTrue((context.attributes().capabilities() & wanted) != 0, "no windows of type 2");
  }

  @Test
  void whatBindsAWindowHasNoDestination() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      assumeWindowsOfType2(pair.context);
      Path path = Variant.path(pair.context);
      QueuePairAddress there = pair.right.queuePair.address(path, 0);
      try (MemoryRegion region =
              pair.domain.allocate(4096, Access.LOCAL_WRITE, Access.WINDOW_BIND);
          MemoryWindow window = pair.domain.window(2);
          AddressHandle handle =
              pair.domain.addressHandle(
                  AddressVector.global(1, path.gidIndex(), there.lid(), there.gid()))) {
        SendRequests binding =
            pair.left.send.bind(0, window, region, 1024, 64, Access.REMOTE_WRITE);
        // The window would not be looked at any more: a closed one would be posted.
        assertThatThrownBy(() -> binding.to(handle, there.number(), 0x11))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("the request binds a memory window");
      }
    }
  }
}
