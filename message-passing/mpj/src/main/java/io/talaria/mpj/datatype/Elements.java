// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Copies of elements inside a rank: between buffers of the program and dense arrays. */
public final class Elements {
  private Elements() {}

  /**
   * Copies elements side by side, between arrays and segments of one base type.
   *
   * @param type of both
   * @param from source
   * @param fromIndex first there
   * @param to destination
   * @param toIndex first there
   * @param count how many
   */
  public static void copy(
      BaseType type, Object from, long fromIndex, Object to, long toIndex, int count) {
    if (count == 0) {
      return;
    }
    if (from instanceof MemorySegment m) {
      type.put(to, toIndex, count, m, fromIndex * type.bytes());
    } else if (to instanceof MemorySegment m) {
      type.get(from, fromIndex, count, m, toIndex * type.bytes());
    } else {
      System.arraycopy(from, (int) fromIndex, to, (int) toIndex, count);
    }
  }

  /**
   * Gathers elements of a layout into a dense array.
   *
   * @param buffer whence
   * @param offset origin of the first layout
   * @param count layouts
   * @param layout where its elements are
   * @param to a dense array
   * @param toIndex first there
   */
  public static void pack(
      Object buffer, long offset, int count, Layout layout, Object to, int toIndex) {
    move(buffer, offset, count, layout, to, toIndex, true);
  }

  /**
   * The same for what stays in this rank, as another value: objects are copied.
   *
   * @param buffer whence
   * @param offset origin of the first layout
   * @param count layouts
   * @param layout where its elements are
   * @param to a dense array
   * @param toIndex first there
   * @param apart whether objects share nothing afterwards; a message keeps what they share
   * @throws CommunicationException if an object cannot be copied
   */
  public static void packValues(
      Object buffer, long offset, int count, Layout layout, Object to, int toIndex, boolean apart) {
    if (layout.base() != BaseType.OBJECT) {
      pack(buffer, offset, count, layout, to, toIndex);
      return;
    }
    try {
      Objects.copy((Object[]) buffer, layout, offset, count, (Object[]) to, toIndex, apart);
    } catch (IOException | ClassNotFoundException e) {
      throw new CommunicationException(Kind.TYPE, "an object cannot be copied: " + e, e);
    }
  }

  /**
   * Spreads elements of a dense array over a layout.
   *
   * @param from a dense array
   * @param fromIndex first there
   * @param buffer whither
   * @param offset origin of the first layout
   * @param count layouts
   * @param layout where its elements are
   */
  public static void unpack(
      Object from, int fromIndex, Object buffer, long offset, int count, Layout layout) {
    move(buffer, offset, count, layout, from, fromIndex, false);
  }

  private static void move(
      Object buffer, long offset, int count, Layout layout, Object array, int at, boolean out) {
    if (layout.dense()) {
      run(layout.base(), buffer, offset, array, at, count * layout.size(), out);
      return;
    }
    for (int k = 0; k < count; k++) {
      long origin = offset + (long) k * layout.extent();
      for (int i = 0; i < layout.runs(); i++) {
        run(layout.base(), buffer, origin + layout.start(i), array, at, layout.length(i), out);
        at += layout.length(i);
      }
    }
  }

  private static void run(
      BaseType type, Object buffer, long index, Object array, int at, int count, boolean out) {
    if (out) {
      copy(type, buffer, index, array, at, count);
    } else {
      copy(type, array, at, buffer, index, count);
    }
  }
}
