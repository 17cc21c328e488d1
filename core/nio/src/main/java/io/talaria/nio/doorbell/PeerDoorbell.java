// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import io.talaria.nio.jdk.JdkNio;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The writing end of a doorbell of another process, opened here. Any thread rings; the thread that
 * has opened it closes it, and does not wait for threads inside: the last of these closes the
 * descriptor, so that no byte goes into a file that gets its number.
 */
public final class PeerDoorbell {
  /** In the count of those inside: no thread enters any more. */
  private static final int CLOSED = Integer.MIN_VALUE;

  private static final int MAX_OPEN = (int) Math.min(1 << 16, OpenDescriptors.limit() / 8);

  /** How many are open in this process. */
  private static final AtomicInteger OPEN = new AtomicInteger();

  private final DoorbellAddress address;
  private final FileOutputStream end;
  private final AtomicInteger inside = new AtomicInteger();

  private PeerDoorbell(DoorbellAddress address, FileOutputStream end) {
    this.address = address;
    this.end = end;
  }

  /**
   * Opens the doorbell of a process of which it is proved that it is the one that has told the
   * address. Does file work: not for the program's threads.
   *
   * @throws IOException if it cannot be opened, is no such pipe, or too many are open; then nothing
   *     has been written anywhere
   */
  static PeerDoorbell open(long pid, DoorbellAddress address) throws IOException {
    if (OPEN.incrementAndGet() > MAX_OPEN) {
      OPEN.decrementAndGet();
      throw new IOException("more than " + MAX_OPEN + " doorbells of peers");
    }
    FileOutputStream end = null;
    try {
      Path there = OpenDescriptors.path(pid, address.descriptor());
      check(there.toString(), OpenDescriptors.pipe(there), address);
      // For append: else the JDK truncates, and if the number were another file's by now that file
      // would be emptied.
      end = new FileOutputStream(there.toString(), true);
      JdkNio.doNotBlock(end.getFD());
      check("what was opened", OpenDescriptors.ownPipe(JdkNio.descriptor(end.getFD())), address);
      return new PeerDoorbell(address, end);
    } catch (IOException | RuntimeException e) {
      OPEN.decrementAndGet();
      if (end != null) {
        end.close();
      }
      throw e;
    }
  }

  private static void check(String what, long pipe, DoorbellAddress address) throws IOException {
    if (pipe != address.inode()) {
      throw new IOException(what + " is pipe " + pipe + " and not " + address.inode());
    }
  }

  /** What it was opened by. */
  public DoorbellAddress address() {
    return address;
  }

  /**
   * Rings. Does not block.
   *
   * @return whether a byte was written; false if it is closed or full, or its process has ended
   */
  public boolean ring() {
    if (!enter()) {
      return false;
    }
    try {
      end.write(0);
      return true;
    } catch (IOException e) {
      return false; // if it is full its owner wakes all the same, and another doorbell costs little
    } finally {
      leave();
    }
  }

  private boolean enter() {
    for (; ; ) {
      int now = inside.get();
      if (now < 0) {
        return false;
      }
      if (inside.compareAndSet(now, now + 1)) {
        return true;
      }
    }
  }

  private void leave() {
    if (inside.decrementAndGet() == CLOSED) {
      closeDescriptor();
    }
  }

  /** Closes it; once. A thread that is inside may still finish its ring. */
  public void close() {
    if (inside.getAndAdd(CLOSED) == 0) {
      closeDescriptor();
    }
  }

  private void closeDescriptor() {
    OPEN.decrementAndGet();
    try {
      end.close();
    } catch (IOException e) {
      // The descriptor is free all the same.
    }
  }
}
