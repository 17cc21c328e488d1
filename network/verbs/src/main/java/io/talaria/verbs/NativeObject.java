// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import java.util.Map;
import java.util.TreeMap;

/**
 * What stands for an object of the libraries: it has owners, which cannot be closed before it, and
 * may itself own others. Opening and closing are safe from any thread.
 */
abstract class NativeObject implements AutoCloseable {
  private final String kind;
  private final NativeObject[] owners;

  /** How many of each kind are open. Guarded by this. */
  private final Map<String, Integer> children = new TreeMap<>();

  /**
   * The address in C, 0 once closed. Written under the lock; read without, because a caller that
   * uses an object while another thread closes it breaks its contract.
   */
  private long pointer;

  /**
   * Counts the new object with its owners; a constructor that fails afterwards must call {@link
   * #abandoned}.
   */
  NativeObject(String kind, NativeObject... owners) {
    this.kind = kind;
    this.owners = owners;
    int adopted = 0;
    try {
      for (NativeObject owner : owners) {
        owner.adopt(kind);
        adopted++;
      }
    } catch (RuntimeException | Error e) {
      for (int i = 0; i < adopted; i++) {
        owners[i].disown(kind);
      }
      throw e;
    }
  }

  /** The object is there. */
  final void opened(long address) {
    pointer = address;
  }

  /** The object could not be made. */
  final void abandoned() {
    for (NativeObject owner : owners) {
      owner.disown(kind);
    }
  }

  /** The address in C. */
  final long pointer() {
    long address = pointer;
    if (address == 0) {
      throw new IllegalStateException("the " + kind + " is closed");
    }
    return address;
  }

  /**
   * Whether it can be used.
   *
   * @return false once it is closed
   */
  public final boolean isOpen() {
    return pointer != 0;
  }

  private synchronized void adopt(String child) {
    long ignored = pointer();
    children.merge(child, 1, Integer::sum);
  }

  private synchronized void disown(String child) {
    children.computeIfPresent(child, (name, count) -> count == 1 ? null : count - 1);
  }

  /** Gives the object back to the library: 0, or a negated error number. */
  abstract int destroy(long address);

  /**
   * Closes the object. Does nothing if it is closed. No other thread may be in one of its calls.
   *
   * @throws IllegalStateException if objects that belong to it are open; they are counted and named
   * @throws VerbsException if the library refuses; the object is open then
   */
  @Override
  public final void close() {
    synchronized (this) {
      if (pointer == 0) {
        return;
      }
      if (!children.isEmpty()) {
        throw new IllegalStateException(
            "the " + kind + " still has " + openChildren() + ": close what belongs to it first");
      }
      long address = pointer;
      pointer = 0;
      int status;
      try {
        status = destroy(address);
      } catch (RuntimeException e) {
        pointer = address;
        throw e;
      }
      if (status < 0) {
        pointer = address;
        throw new VerbsException(status, "closing the " + kind);
      }
    }
    abandoned();
  }

  private String openChildren() {
    StringBuilder text = new StringBuilder();
    children.forEach(
        (name, count) -> {
          text.append(text.isEmpty() ? "" : ", ").append(count).append(' ').append(name);
          if (count > 1) {
            text.append('s');
          }
        });
    return text.toString();
  }

  @Override
  public String toString() {
    return kind + (pointer == 0 ? " (closed)" : "");
  }
}
