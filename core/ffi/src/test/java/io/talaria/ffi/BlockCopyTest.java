// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockCopyTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 4095, 4096, 4097, 65536, 262144, 262145, 1 << 20})
  void copiesExactlyWhatItIsTold(int bytes) {
    byte[] from = new byte[bytes + 20];
    new Random(bytes).nextBytes(from);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(bytes + 30);
      BlockCopy.copy(from, 7, memory, 11, bytes);
      byte[] back = new byte[bytes + 4];
      BlockCopy.copy(memory, 11, MemorySegment.ofArray(back), 2, bytes);
      for (int i = 0; i < bytes; i++) {
        assertThat(back[i + 2]).isEqualTo(from[i + 7]);
      }
      assertThat(back[0] | back[1] | back[bytes + 2] | back[bytes + 3]).isZero();
      assertThat(memory.get(ValueLayout.JAVA_BYTE, 10)).isZero();
      assertThat(memory.get(ValueLayout.JAVA_BYTE, 11 + bytes)).isZero();
    }
  }

  @Test
  void arraysOfOtherTypesAreCopiedAsTheyAre() {
    double[] from = new Random(1).doubles(1000).toArray();
    double[] to = new double[1000];
    BlockCopy.copy(from, 8, MemorySegment.ofArray(to), 16, 7000);
    for (int i = 0; i < 875; i++) {
      assertThat(to[i + 2]).isEqualTo(from[i + 1]);
    }
  }

  @Test
  void whatIsNotAllowedThrows() {
    byte[] array = new byte[8192];
    Arena arena = Arena.ofConfined();
    MemorySegment memory = arena.allocate(8192);
    assertThatThrownBy(() -> BlockCopy.copy(array, 1, memory, 0, 8192))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockCopy.copy(array, 0, memory, 1, 8192))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockCopy.copy(array, 0, memory, -1, 8192))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockCopy.copy(array, 0, memory.asReadOnly(), 0, 8192))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> BlockCopy.copy(new boolean[8192], 0, memory, 0, 8192))
        .isInstanceOf(IllegalArgumentException.class);
    arena.close();
    assertThatThrownBy(() -> BlockCopy.copy(array, 0, memory, 0, 8192))
        .isInstanceOf(IllegalStateException.class);
  }
}
