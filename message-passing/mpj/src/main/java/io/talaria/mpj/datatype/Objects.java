// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;

/** Messages of objects: how many there are, and then each by Java's serialization. */
public final class Objects {
  private Objects() {}

  /**
   * Serializes some of an array.
   *
   * @param array whence
   * @param layout which of them
   * @param offset first
   * @param count layouts
   * @return bytes
   * @throws IOException if one of them cannot be serialized
   */
  public static byte[] write(Object[] array, Layout layout, int offset, int count)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeInt(count * layout.size());
      for (int k = 0; k < count; k++) {
        for (int run = 0; run < layout.runs(); run++) {
          int from = offset + k * layout.extent() + layout.start(run);
          for (int i = 0; i < layout.length(run); i++) {
            out.writeObject(array[from + i]);
          }
        }
      }
    }
    return bytes.toByteArray();
  }

  /**
   * Reads objects into an array, as many as it has room for.
   *
   * @param bytes what {@link #write} made
   * @param array whither
   * @param layout which places
   * @param offset first
   * @param count layouts
   * @return how many objects the message has
   * @throws IOException if they cannot be read, or the filter refuses one
   * @throws ClassNotFoundException if a class is unknown here
   */
  public static int read(byte[] bytes, Object[] array, Layout layout, int offset, int count)
      throws IOException, ClassNotFoundException {
    if (bytes.length == 0) {
      return 0;
    }
    try (ObjectInputStream in = new Resolving(new ByteArrayInputStream(bytes))) {
      int there = in.readInt();
      int left = there;
      for (int k = 0; k < count && left > 0; k++) {
        for (int run = 0; run < layout.runs() && left > 0; run++) {
          int to = offset + k * layout.extent() + layout.start(run);
          for (int i = 0; i < layout.length(run) && left > 0; i++) {
            Object o = in.readObject();
            try {
              array[to + i] = o;
            } catch (ArrayStoreException e) {
              throw new InvalidClassException(
                  "an object of "
                      + e.getMessage()
                      + " does not fit into "
                      + array.getClass().getSimpleName());
            }
            left--;
          }
        }
      }
      return there;
    }
  }

  /**
   * Copies objects as a message would, into a dense array.
   *
   * @param array whence
   * @param layout which of them
   * @param offset first
   * @param count layouts
   * @param to a dense array
   * @param toIndex first there
   * @param apart whether elements share nothing afterwards, even if they did before
   * @throws IOException if one of them cannot be serialized or read
   * @throws ClassNotFoundException if a class is not found by this thread
   */
  static void copy(
      Object[] array,
      Layout layout,
      long offset,
      int count,
      Object[] to,
      int toIndex,
      boolean apart)
      throws IOException, ClassNotFoundException {
    Elements.pack(array, offset, count, layout, to, toIndex);
    int end = toIndex + count * layout.size();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      for (int i = toIndex; i < end; i++) {
        if (!immutable(to[i])) {
          out.writeObject(to[i]);
          if (apart) {
            out.reset();
          }
        }
      }
    }
    try (ObjectInputStream in = new Resolving(new ByteArrayInputStream(bytes.toByteArray()))) {
      for (int i = toIndex; i < end; i++) {
        if (!immutable(to[i])) {
          to[i] = in.readObject();
        }
      }
    }
  }

  /** Whether a copy differs from the object only by its identity. */
  private static boolean immutable(Object o) {
    return o == null
        || o instanceof String
        || o instanceof Enum
        || o instanceof Integer
        || o instanceof Long
        || o instanceof Double
        || o instanceof Float
        || o instanceof Boolean
        || o instanceof Character
        || o instanceof Short
        || o instanceof Byte;
  }

  /** Finds classes as the thread's own code would. */
  private static final class Resolving extends ObjectInputStream {
    Resolving(ByteArrayInputStream in) throws IOException {
      super(in);
      String filter = System.getProperty("talaria.mpj.serial.filter");
      if (filter != null) {
        setObjectInputFilter(ObjectInputFilter.Config.createFilter(filter));
      }
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass type)
        throws IOException, ClassNotFoundException {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      if (loader != null) {
        try {
          return Class.forName(type.getName(), false, loader);
        } catch (ClassNotFoundException e) {
          // Primitive classes, and what only the JDK's way knows.
        }
      }
      return super.resolveClass(type);
    }
  }
}
