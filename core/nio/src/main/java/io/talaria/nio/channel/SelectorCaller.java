// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.privileged.Privileged;
import java.lang.StackWalker.Option;
import java.lang.StackWalker.StackFrame;

/** Who opens a selector: some libraries can use nothing but the JDK's own class of selectors. */
final class SelectorCaller {
  /**
   * Agrona's, on which Aeron's media driver stands. Before version 2 its constructor sets fields of
   * the JDK's class in whatever selector it gets, and fails if they are not there.
   */
  private static final String POLLER = "org.agrona.nio.TransportPoller";

  /** Which only those versions have. */
  private static final String FIELD = "SELECTED_KEYS_FIELD";

  /** Between this method and such a caller. */
  private static final int MAX_FRAMES = 16;

  private SelectorCaller() {}

  /** Whether the caller of the provider needs a selector of the JDK's. */
  static boolean needsJdkSelector() {
    return isNamed() && isOld();
  }

  /**
   * The first StackWalker of a JVM takes 20 ms: no program but those that need it pays for that.
   */
  private static boolean isNamed() {
    StackTraceElement[] callers = new Throwable().getStackTrace();
    for (int i = 0; i < Math.min(MAX_FRAMES, callers.length); i++) {
      if (callers[i].getClassName().endsWith(POLLER)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isOld() {
    return Privileged.get(
        () ->
            StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE)
                .walk(
                    frames ->
                        frames
                            .limit(MAX_FRAMES)
                            .map(StackFrame::getDeclaringClass)
                            .anyMatch(SelectorCaller::isOldPoller)));
  }

  private static boolean isOldPoller(Class<?> caller) {
    // It may have been moved to another package, with all that uses it.
    if (!caller.getName().endsWith(POLLER)) {
      return false;
    }
    try {
      return caller.getDeclaredField(FIELD) != null;
    } catch (NoSuchFieldException e) {
      return false;
    }
  }
}
