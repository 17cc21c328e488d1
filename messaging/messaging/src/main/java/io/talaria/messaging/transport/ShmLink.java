// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.nio.memory.Faults;
import io.talaria.nio.memory.Mapping;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A link through memory that two processes share. The session carries doorbells, a byte each; its
 * end means that the other process has ended.
 */
public final class ShmLink extends MemoryLink {
  private static final int PAGE_BYTES = 4096;

  private final LinkOwner owner;
  private final SocketChannel session;
  private final Mapping mapping;
  private final MemorySegment file;
  private final boolean creator;
  private final int[] capacity;

  /** Guarded by itself. */
  private final ByteBuffer doorbell = ByteBuffer.allocateDirect(1);

  private final ByteBuffer doorbells = ByteBuffer.allocateDirect(256);

  /** Only for the poller. */
  private boolean ended;

  /**
   * Creates this side's ends of the rings.
   *
   * @param session connected, non-blocking
   * @param mapping the file
   * @param creator whether this side has created the file
   * @param capacity the maximum capacity of the ring of each priority, in bytes
   * @throws IOException if the file has another format
   */
  public ShmLink(
      LinkOwner owner, SocketChannel session, Mapping mapping, boolean creator, int... capacity)
      throws IOException {
    super(capacity);
    this.owner = owner;
    this.session = session;
    this.mapping = mapping;
    this.creator = creator;
    this.capacity = capacity.clone();
    file = MemorySegment.ofBuffer(mapping.buffer());
    if (!creator && !ShmLayout.fits(file, capacity[0], capacity[1])) {
      throw new IOException("the file shared is of another kind or version");
    }
    begin();
  }

  @Override
  MemorySegment outMemory(int priority, int generation) {
    MemorySegment ring = ShmLayout.ring(file, creator, priority, generation, capacity);
    return generation == 0 || reserve(ring) ? ring : null;
  }

  /**
   * Touches each page, so that later accesses cannot fault for lack of memory; false if there is
   * not enough.
   */
  private static boolean reserve(MemorySegment ring) {
    Faults.clear();
    try {
      for (long at = 0; at < ring.byteSize(); at += PAGE_BYTES) {
        ring.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
      }
      ring.set(ValueLayout.JAVA_BYTE, ring.byteSize() - 1, (byte) 0);
      Faults.take();
      return true;
    } catch (InternalError e) {
      return false;
    }
  }

  @Override
  MemorySegment inMemory(int priority, int generation) {
    return ShmLayout.ring(file, !creator, priority, generation, capacity);
  }

  @Override
  public String transport() {
    return "shm";
  }

  @Override
  public String reason() {
    return "same user, same host";
  }

  @Override
  public SocketChannel session() {
    return session;
  }

  @Override
  public void wakePeer() {
    try {
      synchronized (doorbell) {
        // 0: unread doorbells fill the session, so it will wake
        session.write(doorbell.clear());
      }
    } catch (IOException e) {
      owner.wakePoller(); // the poller finds the end of the session
    }
  }

  @Override
  void wakeSenders() {
    wakePeer();
  }

  /** Reads doorbells. */
  @Override
  public boolean pull() {
    if (ended) {
      return false;
    }
    try {
      int got = session.read(doorbells.clear());
      ended = got < 0;
      if (got > 0) {
        owner.wakeWaiters();
      }
      return got > 0;
    } catch (IOException e) {
      ended = true; // reset: the other process was killed
      return false;
    }
  }

  @Override
  public boolean severed() {
    return ended;
  }

  @Override
  public void sever() {
    ended = true;
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (IOException e) {
      // Harmless: nothing was left to send.
    }
  }

  @Override
  public void unmap() {
    mapping.close();
  }
}
