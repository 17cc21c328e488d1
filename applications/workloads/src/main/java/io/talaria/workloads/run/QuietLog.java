// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import java.util.logging.Level;
import java.util.logging.Logger;

/** What libraries in a child JVM log; it is shown only if that JVM fails. */
public final class QuietLog {
  /**
   * Held, because a logger that is not strongly referenced may be collected and then forgets its
   * level.
   */
  private static final Logger ROOT = Logger.getLogger("");

  private QuietLog() {}

  /** Leaves out everything below a warning. */
  public static void warningsOnly() {
    ROOT.setLevel(Level.WARNING);
  }
}
