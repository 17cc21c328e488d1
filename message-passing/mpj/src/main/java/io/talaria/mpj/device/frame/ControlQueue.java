// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import java.util.Arrays;

/** Control frames that found no room yet, in order: three longs each. */
final class ControlQueue {
  private long[] words = new long[48];
  private int head;
  private int count;

  boolean isEmpty() {
    return count == 0;
  }

  void add(byte kind, long id, long receiverId, long bytes) {
    if (count + 4 > words.length) {
      long[] larger = new long[words.length * 2];
      int first = Math.min(count, words.length - head);
      System.arraycopy(words, head, larger, 0, first);
      System.arraycopy(words, 0, larger, first, count - first);
      Arrays.fill(words, 0);
      words = larger;
      head = 0;
    }
    put(0, kind);
    put(1, id);
    put(2, receiverId);
    put(3, bytes);
    count += 4;
  }

  private void put(int i, long value) {
    words[(head + count + i) % words.length] = value;
  }

  /** Field 0 to 3 of the first one: kind, id, receiver's id, bytes. */
  long first(int field) {
    return words[(head + field) % words.length];
  }

  void removeFirst() {
    head = (head + 4) % words.length;
    count -= 4;
  }
}
