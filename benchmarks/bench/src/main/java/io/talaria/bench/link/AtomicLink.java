// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.plan.BindingKind;
import io.talaria.ucx.RemoteMemory;

/** UCX's atomics on the first 4 or 8 bytes of the peer's memory, which only looks on. */
final class AtomicLink extends MemoryLink {
  private final BindingKind kind;
  private Atomic atomic;

  /** Begins one; gives 0, a request, or a negative status. */
  @FunctionalInterface
  private interface Atomic {
    long begin(RemoteMemory memory);
  }

  AtomicLink(UcxSide side, BindingKind kind) {
    super(side);
    this.kind = kind;
  }

  @Override
  public void prepare(int size) {
    super.prepare(size);
    atomic = atomic(kind, size == Long.BYTES);
  }

  /** One each, so that it is compiled alone. */
  private static Atomic atomic(BindingKind kind, boolean isLong) {
    return switch (kind) {
      case UCX_ADD -> isLong ? to -> to.addLong(0, 1) : to -> to.addInt(0, 1);
      case UCX_AND -> isLong ? to -> to.andLong(0, 1) : to -> to.andInt(0, 1);
      case UCX_OR -> isLong ? to -> to.orLong(0, 1) : to -> to.orInt(0, 1);
      case UCX_XOR -> isLong ? to -> to.xorLong(0, 1) : to -> to.xorInt(0, 1);
      case UCX_FETCH_ADD -> isLong ? to -> to.fetchAddLong(0, 1) : to -> to.fetchAddInt(0, 1);
      case UCX_FETCH_AND -> isLong ? to -> to.fetchAndLong(0, 1) : to -> to.fetchAndInt(0, 1);
      case UCX_FETCH_OR -> isLong ? to -> to.fetchOrLong(0, 1) : to -> to.fetchOrInt(0, 1);
      case UCX_FETCH_XOR -> isLong ? to -> to.fetchXorLong(0, 1) : to -> to.fetchXorInt(0, 1);
      case UCX_SWAP -> isLong ? to -> to.swapLong(0, 1) : to -> to.swapInt(0, 1);
      case UCX_COMPARE_AND_SWAP ->
          isLong
              ? to -> to.compareAndSwapLong(0, 0, 0)
              : to -> to.compareAndSwapInt(0, 0, 0); // changes nothing
      default -> throw new IllegalArgumentException(kind + " is no atomic");
    };
  }

  @Override
  long start() {
    return atomic.begin(side.remote());
  }

  @Override
  public void receive() {
    throw new UnsupportedOperationException("nothing is sent by an atomic");
  }
}
