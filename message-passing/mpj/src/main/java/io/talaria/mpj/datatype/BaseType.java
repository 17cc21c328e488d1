// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import io.talaria.ffi.BlockCopy;
import io.talaria.nio.jit.NotInlined;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/** The types of elements. Their order is what travels in a frame, see {@link #code}. */
public enum BaseType {
  /** Not a type. */
  NULL(0, 1, null),
  /** byte. */
  BYTE(1, 1, byte[].class),
  /** char. */
  CHAR(2, 2, char[].class),
  /** short. */
  SHORT(3, 2, short[].class),
  /** boolean, a byte each. */
  BOOLEAN(4, 1, boolean[].class),
  /** int. */
  INT(5, 4, int[].class),
  /** long. */
  LONG(6, 8, long[].class),
  /** float. */
  FLOAT(7, 4, float[].class),
  /** double. */
  DOUBLE(8, 8, double[].class),
  /** Bytes that match any type. */
  PACKED(9, 1, byte[].class),
  /** Serializable objects. */
  OBJECT(10, 1, Object[].class);

  private final int code;
  private final int bytes;
  private final int shift;
  private final Class<?> array;

  /** Made by the first thread that copies; it has no state. */
  @SuppressWarnings("ImmutableEnumChecker")
  private ArrayCopy copy;

  BaseType(int code, int bytes, Class<?> array) {
    this.code = code;
    this.bytes = bytes;
    this.shift = Integer.numberOfTrailingZeros(bytes);
    this.array = array;
  }

  private static final BaseType[] BY_CODE = values();

  /** Its number, which travels in frames. */
  public int code() {
    return code;
  }

  /**
   * The type with a number.
   *
   * @param code what {@link #code} returned
   */
  public static BaseType of(int code) {
    return BY_CODE[code];
  }

  /** Bytes of an element on the wire. */
  public int bytes() {
    return bytes;
  }

  /** The logarithm to base 2 of {@link #bytes}. */
  public int shift() {
    return shift;
  }

  /**
   * How many elements a buffer has room for, or -1 if it is no buffer of this type.
   *
   * @param buffer an array, or null
   */
  public long lengthOf(Object buffer) {
    return switch (this) {
      case BYTE, PACKED -> buffer instanceof byte[] a ? a.length : memory(buffer);
      case CHAR -> buffer instanceof char[] a ? a.length : memory(buffer);
      case SHORT -> buffer instanceof short[] a ? a.length : memory(buffer);
      case BOOLEAN -> buffer instanceof boolean[] a ? a.length : memory(buffer);
      case INT -> buffer instanceof int[] a ? a.length : memory(buffer);
      case LONG -> buffer instanceof long[] a ? a.length : memory(buffer);
      case FLOAT -> buffer instanceof float[] a ? a.length : memory(buffer);
      case DOUBLE -> buffer instanceof double[] a ? a.length : memory(buffer);
      case OBJECT -> buffer instanceof Object[] a ? a.length : -1;
      case NULL -> -1;
    };
  }

  private long memory(Object buffer) {
    return buffer instanceof MemorySegment m ? m.byteSize() / bytes : -1;
  }

  /** What a buffer of this type is called. */
  public String arrayName() {
    return array == null ? "nothing" : array.getSimpleName();
  }

  /**
   * Makes an array.
   *
   * @param length elements
   */
  public Object newArray(int length) {
    return switch (this) {
      case BYTE, PACKED, NULL -> new byte[length];
      case CHAR -> new char[length];
      case SHORT -> new short[length];
      case BOOLEAN -> new boolean[length];
      case INT -> new int[length];
      case LONG -> new long[length];
      case FLOAT -> new float[length];
      case DOUBLE -> new double[length];
      case OBJECT -> new Object[length];
    };
  }

  /**
   * Whether {@link BlockCopy} is for this buffer: booleans are converted, and a mapped file of the
   * program may be truncated, which only the JVM's own copy survives.
   */
  private boolean isBlock(Object buffer) {
    return buffer instanceof MemorySegment m ? !m.isMapped() : this != BOOLEAN && this != OBJECT;
  }

  /** Copies elements of an array or segment out to memory; at least one. */
  @NotInlined
  void get(Object buffer, long index, int count, MemorySegment to, long at) {
    long length = (long) count << shift;
    if (length >= BlockCopy.MIN_BYTES && isBlock(buffer)) {
      BlockCopy.copy(buffer, index << shift, to, at, length);
    } else if (buffer instanceof MemorySegment m) {
      MemorySegment.copy(m, index << shift, to, at, length);
    } else {
      copy().get(buffer, (int) index, count, to, at);
    }
  }

  /** Copies elements from memory into an array or segment; at least one. */
  @NotInlined
  void put(Object buffer, long index, int count, MemorySegment from, long at) {
    if (buffer instanceof MemorySegment m) {
      MemorySegment.copy(from, at, m, index << shift, (long) count << shift);
    } else {
      copy().put(buffer, (int) index, count, from, at);
    }
  }

  private ArrayCopy copy() {
    ArrayCopy made = copy;
    if (made == null) {
      made = ArrayCopy.of(this);
      copy = made;
    }
    return made;
  }

  /** Native order is what travels: both sides are little-endian, or the job does not start. */
  static ByteOrder order() {
    return ByteOrder.nativeOrder();
  }
}
