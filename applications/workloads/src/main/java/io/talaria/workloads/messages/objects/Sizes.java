// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.objects;

import java.util.List;

/** The objects that are sent. */
public final class Sizes {
  /** The bytes of {@link Two}. */
  public static final int SMALL = 16;

  /** The bytes of {@link Eight}. */
  public static final int LARGE = 64;

  /** The largest array. */
  public static final int MAX_BYTES = 1 << 20;

  /** The sizes that are sent by default. */
  public static final List<Integer> USUAL = List.of(SMALL, LARGE);

  private static final int KIBI = 1 << 10;

  private Sizes() {}

  /** Whether it is an object of fields, not an array. */
  public static boolean isRecord(int sizeBytes) {
    return sizeBytes == SMALL || sizeBytes == LARGE;
  }

  /** Whether there is such an object. */
  public static boolean exists(int sizeBytes) {
    return sizeBytes >= 1 && sizeBytes <= MAX_BYTES && Integer.bitCount(sizeBytes) == 1;
  }

  /** The size in words, {@code 64 KiB}. */
  public static String label(int sizeBytes) {
    if (sizeBytes < KIBI) {
      return sizeBytes + " B";
    }
    return sizeBytes < MAX_BYTES ? sizeBytes / KIBI + " KiB" : sizeBytes / MAX_BYTES + " MiB";
  }

  /** Returns the object of a size and a number. */
  public static Object object(int sizeBytes, long number) {
    return switch (sizeBytes) {
      case SMALL -> Two.of(number);
      case LARGE -> Eight.of(number);
      default -> Block.of(sizeBytes, number);
    };
  }

  /** What the fields of that object add up to. */
  public static long sum(int sizeBytes, long number) {
    return switch (sizeBytes) {
      case SMALL -> 4 * number;
      case LARGE -> 8 * number + 28;
      default -> Block.sum(sizeBytes, number);
    };
  }
}
