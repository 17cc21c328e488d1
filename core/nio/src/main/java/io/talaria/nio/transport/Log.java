// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import io.talaria.nio.privileged.Privileged;
import java.lang.System.Logger.Level;
import java.util.function.Supplier;

/**
 * Lines for the program's log. A log that fails loses its line and nothing else: the program's
 * logger may throw whatever it likes, and the JDK's own does when no file descriptor is left. Any
 * thread.
 */
public final class Log {
  private static final String NAME = "io.talaria.nio";

  private Log() {}

  /**
   * Logs a detail of normal operation, at a level that is off by default.
   *
   * @param line one line
   */
  public static void debug(String line) {
    write(Level.DEBUG, line, null);
  }

  /**
   * Tells that something has gone wrong.
   *
   * @param line one line
   * @param cause what was thrown, or null
   */
  public static void warning(String line, Throwable cause) {
    write(Level.WARNING, line, cause);
  }

  private static void write(Level level, String line, Throwable cause) {
    Privileged.run(() -> write(() -> System.getLogger(NAME), level, line, cause));
  }

  static void write(Supplier<System.Logger> logger, Level level, String line, Throwable cause) {
    try {
      logger.get().log(level, line, cause);
    } catch (InternalError e) {
      throw e; // perhaps not the logger's: see Faults
    } catch (RuntimeException | Error e) {
      // The line is lost.
    }
  }
}
