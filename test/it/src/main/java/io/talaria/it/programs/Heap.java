// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;

/** Tells, when asked, what a program's objects take. */
final class Heap {
  private Heap() {}

  /** Says {@code @heap used=BYTES}, garbage not counted, at each command {@code heap}. */
  static void sayWhenAsked() {
    Console.daemon(
        "heap",
        () -> {
          while (true) {
            Console.awaitCommand("heap");
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            Console.say("heap", "used", runtime.totalMemory() - runtime.freeMemory());
          }
        });
  }
}
