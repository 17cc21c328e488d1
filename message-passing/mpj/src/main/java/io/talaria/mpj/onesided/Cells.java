// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.datatype.BaseType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Single elements as bits: combined, and exchanged atomically in memory that ranks share. */
final class Cells {
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final boolean BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  private Cells() {}

  /** The bits of an element at any address. */
  static long read(MemorySegment from, long at, int bytes) {
    return switch (bytes) {
      case 1 -> from.get(ValueLayout.JAVA_BYTE, at) & 0xffL;
      case 2 -> from.get(ValueLayout.JAVA_SHORT_UNALIGNED, at) & 0xffffL;
      case 4 -> from.get(ValueLayout.JAVA_INT_UNALIGNED, at) & 0xffff_ffffL;
      default -> from.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    };
  }

  static void write(MemorySegment to, long at, int bytes, long bits) {
    switch (bytes) {
      case 1 -> to.set(ValueLayout.JAVA_BYTE, at, (byte) bits);
      case 2 -> to.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) bits);
      case 4 -> to.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) bits);
      default -> to.set(ValueLayout.JAVA_LONG_UNALIGNED, at, bits);
    }
  }

  /** Combines an element of the origin with one of the target: bits of the result. */
  static long combine(BaseType base, Arithmetic op, long origin, long target) {
    if (op == Arithmetic.REPLACE) {
      return origin;
    }
    if (op == Arithmetic.NO_OP) {
      return target;
    }
    return switch (base) {
      case BYTE -> integer(op, (byte) origin, (byte) target) & 0xffL;
      case CHAR -> integer(op, (char) origin, (char) target) & 0xffffL;
      case SHORT -> integer(op, (short) origin, (short) target) & 0xffffL;
      case INT -> {
        int a = (int) origin;
        int b = (int) target;
        yield integer(op, a, b) & 0xffff_ffffL;
      }
      case LONG -> integer(op, origin, target);
      case BOOLEAN -> logical(op, origin != 0, target != 0) ? 1 : 0;
      case FLOAT -> {
        float a = Float.intBitsToFloat((int) origin);
        float b = Float.intBitsToFloat((int) target);
        float c =
            switch (op) {
              case MAX -> Math.max(a, b);
              case MIN -> Math.min(a, b);
              case SUM -> a + b;
              case PROD -> a * b;
              default -> throw undefined(op, base);
            };
        yield Float.floatToRawIntBits(c) & 0xffff_ffffL;
      }
      case DOUBLE -> {
        double a = Double.longBitsToDouble(origin);
        double b = Double.longBitsToDouble(target);
        double c =
            switch (op) {
              case MAX -> Math.max(a, b);
              case MIN -> Math.min(a, b);
              case SUM -> a + b;
              case PROD -> a * b;
              default -> throw undefined(op, base);
            };
        yield Double.doubleToRawLongBits(c);
      }
      default -> throw undefined(op, base);
    };
  }

  private static IllegalArgumentException undefined(Arithmetic op, BaseType base) {
    return new IllegalArgumentException(op + " is not defined for " + base + " elements");
  }

  private static long integer(Arithmetic op, long a, long b) {
    return switch (op) {
      case MAX -> Math.max(a, b);
      case MIN -> Math.min(a, b);
      case SUM -> a + b;
      case PROD -> a * b;
      case BAND -> a & b;
      case BOR -> a | b;
      case BXOR -> a ^ b;
      default -> throw new IllegalArgumentException(op + " is not defined for integers");
    };
  }

  private static boolean logical(Arithmetic op, boolean a, boolean b) {
    return switch (op) {
      case LAND, BAND -> a && b;
      case LOR, BOR -> a || b;
      case LXOR, BXOR -> a ^ b;
      default -> throw undefined(op, BaseType.BOOLEAN);
    };
  }

  /**
   * Combines atomically, in memory outside the heap.
   *
   * @param at a multiple of the element's bytes; so is the address of the memory, and of 4
   * @return the bits before
   */
  static long accumulate(MemorySegment in, long at, BaseType base, Arithmetic op, long origin) {
    // The processor adds by itself, so that ranks that share a counter never repeat.
    if (op == Arithmetic.SUM && base == BaseType.LONG) {
      return (long) LONG.getAndAdd(in, at, origin);
    }
    if (op == Arithmetic.SUM && base == BaseType.INT) {
      return (int) INT.getAndAdd(in, at, (int) origin) & 0xffff_ffffL;
    }
    int bytes = base.bytes();
    while (true) {
      long before = load(in, at, bytes);
      long after = combine(base, op, origin, before);
      if (op == Arithmetic.NO_OP || swap(in, at, bytes, before, after)) {
        return before;
      }
    }
  }

  /** Writes new bits if the old ones are as expected; returns the bits before. */
  static long compareAndSwap(MemorySegment in, long at, int bytes, long expected, long bits) {
    while (true) {
      long before = load(in, at, bytes);
      if (before != expected || swap(in, at, bytes, before, bits)) {
        return before;
      }
    }
  }

  /** How far an element of less than 4 bytes is shifted in the int that has it. */
  private static int shift(long at, int bytes) {
    int within = (int) (at & 3);
    return 8 * (BIG_ENDIAN ? 4 - bytes - within : within);
  }

  private static long mask(int bytes) {
    return (1L << (8 * bytes)) - 1;
  }

  private static long load(MemorySegment in, long at, int bytes) {
    return switch (bytes) {
      case 8 -> (long) LONG.getVolatile(in, at);
      case 4 -> (int) INT.getVolatile(in, at) & 0xffff_ffffL;
      default -> ((int) INT.getVolatile(in, at & -4) >> shift(at, bytes)) & mask(bytes);
    };
  }

  private static boolean swap(MemorySegment in, long at, int bytes, long before, long after) {
    if (bytes == 8) {
      return LONG.compareAndSet(in, at, before, after);
    }
    if (bytes == 4) {
      return INT.compareAndSet(in, at, (int) before, (int) after);
    }
    int shift = shift(at, bytes);
    int others = ~((int) mask(bytes) << shift);
    while (true) {
      int word = (int) INT.getVolatile(in, at & -4);
      if (((word >> shift) & mask(bytes)) != before) {
        return false;
      }
      if (INT.compareAndSet(in, at & -4, word, (word & others) | ((int) after << shift))) {
        return true;
      }
    }
  }
}
