// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * Memory of a node that the device reads and writes: the local side of operations on remote memory,
 * what large messages are sent from, and, where peers were allowed to, their remote memory. Usable
 * by any thread; who writes when is the program's business.
 */
public final class RegisteredMemory implements AutoCloseable {
  private static final VarHandle USES = uses();
  private static final int CLOSED = Integer.MIN_VALUE;

  final VerbsNode node;
  final MemoryRegion region;

  @SuppressWarnings("UnusedVariable") // by its handle
  private int uses;

  RegisteredMemory(VerbsNode node, MemoryRegion region) {
    this.node = node;
    this.region = region;
  }

  private static VarHandle uses() {
    try {
      return MethodHandles.lookup().findVarHandle(RegisteredMemory.class, "uses", int.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  /**
   * The memory.
   *
   * @return a segment
   * @throws IllegalStateException if it is closed
   */
  public MemorySegment segment() {
    return region.memory();
  }

  /**
   * How long it is.
   *
   * @return a number of bytes
   */
  public long byteSize() {
    return region.byteSize();
  }

  /**
   * What a peer must have to use it.
   *
   * @return a handle
   * @throws IllegalStateException if it is closed
   */
  public RemoteMemory handle() {
    return new RemoteMemory(
        node.id(), region.remoteAddress(), region.byteSize(), region.remoteKey());
  }

  /** An operation begins. */
  void enter(long offset, long bytes) {
    Objects.checkFromIndexSize(offset, bytes, region.byteSize());
    int now;
    do {
      now = (int) USES.getAcquire(this);
      if (now < 0) {
        throw new IllegalStateException("the memory is closed");
      }
    } while (!USES.compareAndSet(this, now, now + 1));
  }

  /** It is over. */
  void leave() {
    int ignored = (int) USES.getAndAddRelease(this, -1);
  }

  /**
   * Closes it: keys of peers are of no use any more. What was in it stays readable for as long as
   * the program refers to the segment.
   *
   * @throws IllegalStateException if operations of this node are under way
   */
  @Override
  public synchronized void close() {
    int now = (int) USES.compareAndExchange(this, 0, CLOSED);
    if (now > 0) {
      throw new IllegalStateException(
          now + " operations with this memory are under way: wait until they are over");
    }
    if (now == 0) {
      region.close();
      node.closed(this); // afterwards, because the node waits for those that it still knows
    }
  }

  /**
   * Closes it with its node, whose connections are over: an operation that has begun is being
   * refused. Waits for its end, and for that of {@link #close} by another thread.
   */
  synchronized void closeWithNode() {
    while ((int) USES.compareAndExchange(this, 0, CLOSED) > 0) {
      Thread.yield();
    }
    region.close();
    node.closed(this);
  }
}
