// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.testsupport.ChildProcess;
import java.util.List;

/** Describes a second JVM with a heap of its own size. */
public final class TestJvm {
  private TestJvm() {}

  /**
   * Describes one.
   *
   * @param main the class whose {@code main} runs
   * @param heapMb most of its heap, MB
   * @param arguments for {@code main}
   */
  @SuppressWarnings("exports") // for tests alone, which are in no module
  public static ChildProcess.Builder of(Class<?> main, int heapMb, Object... arguments) {
    return ChildProcess.jvm(main, arguments)
        .options("-XX:+UseSerialGC", "-Xmx" + heapMb + "m", "--enable-native-access=ALL-UNNAMED")
        .options(TestVerbs.isDevice() ? List.of("-Dtalaria.verbs.variant=device") : List.of());
  }
}
