// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LogTest {
  /** A program's logger. */
  private record Logger(Consumer<String> lines) implements System.Logger {
    @Override
    public String getName() {
      return "test";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String line, Throwable thrown) {
      lines.accept(level + " " + line + " " + thrown);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... params) {
      lines.accept(level + " " + format);
    }
  }

  private static Logger failing(Error error) {
    return new Logger(
        line -> {
          throw error;
        });
  }

  @Test
  void linesReachTheLogger() {
    List<String> lines = new ArrayList<>();
    Log.write(() -> new Logger(lines::add), Level.WARNING, "a {0}", null);
    assertThat(lines).containsExactly("WARNING a {0} null");
  }

  /** As java.util.logging does on JDK 17 when no descriptor is left for the file of time zones. */
  @Test
  void aLoggerThatFailsTakesNobodyWithIt() {
    assertThatCode(
            () ->
                Log.write(
                    () -> failing(new NoClassDefFoundError("ZoneInfoFile")),
                    Level.INFO,
                    "line",
                    null))
        .doesNotThrowAnyException();
  }

  @Test
  void whatMayBeLostMemoryIsPassedOn() {
    assertThatThrownBy(
            () -> Log.write(() -> failing(new InternalError("a fault")), Level.INFO, "line", null))
        .isInstanceOf(InternalError.class);
  }
}
