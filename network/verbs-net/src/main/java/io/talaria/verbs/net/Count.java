// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Counts of one thread, which alone adds; any thread reads. */
final class Count {
  static final int MESSAGES_OUT = 0;
  static final int POSTS = 1;
  static final int POSTED = 2;
  static final int CREDIT_MESSAGES = 3;
  static final int FAILED_REQUESTS = 4;
  static final int MESSAGES_IN = 5;
  static final int REFILLS = 6;
  static final int LATE_REFILLS = 7;
  static final int LARGE_IN = 8;
  static final int HANDLER_FAILURES = 9;
  static final int SLEEPS = 10;
  private static final int ALL = 11;

  private static final VarHandle ARRAY = MethodHandles.arrayElementVarHandle(long[].class);
  private final long[] counts = new long[ALL];

  void add(int which, long more) {
    ARRAY.setOpaque(counts, which, counts[which] + more);
  }

  long get(int which) {
    return (long) ARRAY.getOpaque(counts, which);
  }
}
