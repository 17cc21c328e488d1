// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;

/** Keeps a processor busy until it is ended: a neighbour that never rests. */
public final class Restless {
  private Restless() {}

  /**
   * Runs the program.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Console.daemon("restless", Restless::turn);
          Console.say("turning");
          Console.awaitEnd();
        });
  }

  private static void turn() {
    while (true) {
      Thread.onSpinWait();
    }
  }
}
