// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the main method of another program, which then lives as it would by itself, except that the
 * end of standard input ends it.
 */
public final class Launch {
  private Launch() {}

  /**
   * Runs the program.
   *
   * @param arguments main=the main class, and its arguments as 0=, 1= and so on
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Class<?> program = Class.forName(args.text("main", ""));
          program.getMethod("main", String[].class).invoke(null, (Object) words(args));
          Console.awaitEnd();
        });
  }

  private static String[] words(Args args) {
    List<String> words = new ArrayList<>();
    for (String word = args.text("0", null); word != null; ) {
      words.add(word);
      word = args.text(Integer.toString(words.size()), null);
    }
    return words.toArray(new String[0]);
  }
}
