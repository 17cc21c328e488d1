// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.RemoteMemory;

/** Begins an atomic on the first bytes of the peer's memory. */
@FunctionalInterface
interface Atomic {
  /** Gives 0, a request, or a negative status. */
  long begin(RemoteMemory memory);

  /** Finds the one of an operation, on 4 or 8 bytes; one each, so that it is compiled alone. */
  static Atomic of(Operation operation, int bytes) {
    boolean isLong = bytes == Long.BYTES;
    return switch (operation) {
      case ADD -> isLong ? memory -> memory.addLong(0, 1) : memory -> memory.addInt(0, 1);
      case AND -> isLong ? memory -> memory.andLong(0, 1) : memory -> memory.andInt(0, 1);
      case OR -> isLong ? memory -> memory.orLong(0, 1) : memory -> memory.orInt(0, 1);
      case XOR -> isLong ? memory -> memory.xorLong(0, 1) : memory -> memory.xorInt(0, 1);
      case FETCH_ADD ->
          isLong ? memory -> memory.fetchAddLong(0, 1) : memory -> memory.fetchAddInt(0, 1);
      case FETCH_AND ->
          isLong ? memory -> memory.fetchAndLong(0, 1) : memory -> memory.fetchAndInt(0, 1);
      case FETCH_OR ->
          isLong ? memory -> memory.fetchOrLong(0, 1) : memory -> memory.fetchOrInt(0, 1);
      case FETCH_XOR ->
          isLong ? memory -> memory.fetchXorLong(0, 1) : memory -> memory.fetchXorInt(0, 1);
      case SWAP -> isLong ? memory -> memory.swapLong(0, 1) : memory -> memory.swapInt(0, 1);
      case COMPARE_AND_SWAP ->
          isLong
              ? memory -> memory.compareAndSwapLong(0, 0, 0)
              : memory -> memory.compareAndSwapInt(0, 0, 0);
      default -> throw new IllegalArgumentException(operation + " is no atomic");
    };
  }
}
