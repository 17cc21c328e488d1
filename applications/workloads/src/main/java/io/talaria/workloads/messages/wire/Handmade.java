// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.workloads.messages.objects.Eight;
import io.talaria.workloads.messages.objects.Tally;
import io.talaria.workloads.messages.objects.Two;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** The codec by hand: 4 bytes for who carries it, a kind, how many numbers, the numbers. */
public final class Handmade {
  static final int PLAIN = 1;
  static final int REQUEST = 2;
  static final int HOW_MANY = 3;
  static final int TALLY = 4;

  static final int KIND = 4;
  static final int COUNT = 6;
  private static final int NUMBERS = 8;

  /** The request for what has come so far. */
  record HowMany() {}

  private Handmade() {}

  static int size(Object message) {
    return switch (message) {
      case Two two -> NUMBERS + 2 * Long.BYTES;
      case Eight eight -> NUMBERS + 8 * Long.BYTES;
      case Tally tally -> NUMBERS + 3 * Long.BYTES;
      default -> NUMBERS;
    };
  }

  static void write(MutableDirectBuffer to, int at, int kind, Object message) {
    to.putShort(at + KIND, (short) kind);
    int numbers = at + NUMBERS;
    switch (message) {
      case Two two -> {
        to.putShort(at + COUNT, (short) 2);
        to.putLong(numbers, two.a());
        to.putLong(numbers + 8, two.b());
      }
      case Eight eight -> {
        to.putShort(at + COUNT, (short) 8);
        to.putLong(numbers, eight.a());
        to.putLong(numbers + 8, eight.b());
        to.putLong(numbers + 16, eight.c());
        to.putLong(numbers + 24, eight.d());
        to.putLong(numbers + 32, eight.e());
        to.putLong(numbers + 40, eight.f());
        to.putLong(numbers + 48, eight.g());
        to.putLong(numbers + 56, eight.h());
      }
      case Tally tally -> {
        to.putShort(at + COUNT, (short) 3);
        to.putLong(numbers, tally.count());
        to.putLong(numbers + 8, tally.sum());
        to.putLong(numbers + 16, tally.wrong());
      }
      default -> to.putShort(at + COUNT, (short) 0);
    }
  }

  static boolean isRequest(DirectBuffer from, int at) {
    return from.getShort(at + KIND) == REQUEST;
  }

  static Object read(DirectBuffer from, int at) {
    int n = at + NUMBERS;
    return switch (from.getShort(at + COUNT)) {
      case 2 -> new Two(from.getLong(n), from.getLong(n + 8));
      case 8 ->
          new Eight(
              from.getLong(n),
              from.getLong(n + 8),
              from.getLong(n + 16),
              from.getLong(n + 24),
              from.getLong(n + 32),
              from.getLong(n + 40),
              from.getLong(n + 48),
              from.getLong(n + 56));
      case 3 -> new Tally(from.getLong(n), from.getLong(n + 8), from.getLong(n + 16));
      default -> new HowMany();
    };
  }
}
