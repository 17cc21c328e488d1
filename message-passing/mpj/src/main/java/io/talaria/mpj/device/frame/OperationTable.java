// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.Operation;
import java.util.Arrays;

/**
 * Operations by number: what a frame names. A number is not used twice within 2^32 uses of a slot.
 */
final class OperationTable {
  private Operation[] slots = new Operation[64];
  private int[] generations = new int[64];
  private int[] free = new int[64];
  private int freeCount;
  private int used;

  long add(Operation operation) {
    int slot;
    if (freeCount > 0) {
      slot = free[--freeCount];
    } else {
      if (used == slots.length) {
        slots = Arrays.copyOf(slots, used * 2);
        generations = Arrays.copyOf(generations, used * 2);
        free = Arrays.copyOf(free, used * 2);
      }
      slot = used++;
    }
    slots[slot] = operation;
    return (generations[slot] & 0x7fffffffL) << 32 | slot;
  }

  /** The operation with the number, or null if it is over. */
  Operation get(long id) {
    int slot = (int) id;
    if (id < 0 || slot >= used || (generations[slot] & 0x7fffffffL) != id >>> 32) {
      return null;
    }
    return slots[slot];
  }

  void remove(long id) {
    int slot = (int) id;
    slots[slot] = null;
    generations[slot]++;
    free[freeCount++] = slot;
  }

  /** How many slots there are to look at with {@link #inSlot}. */
  int slots() {
    return used;
  }

  /** The operation in a slot, or null. */
  Operation inSlot(int slot) {
    return slots[slot];
  }

  int size() {
    return used - freeCount;
  }
}
