// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Reads the words of options that name constants, as their {@code toString} writes them. */
public final class Words {
  private Words() {}

  /**
   * Returns the constants that a user has named.
   *
   * @param <E> their type
   * @param command whose option it is
   * @param option the option, for messages
   * @param words what the user has written; empty for all of them
   * @param all the constants that there are
   * @throws ParameterException if there is none of a name
   */
  public static <E> List<E> read(CommandLine command, String option, List<String> words, E[] all) {
    List<E> found = new ArrayList<>();
    for (String word : words) {
      found.add(
          Stream.of(all)
              .filter(constant -> constant.toString().equals(word.strip()))
              .findFirst()
              .orElseThrow(() -> unknown(command, option, word, all)));
    }
    return found.isEmpty() ? List.of(all) : found;
  }

  private static ParameterException unknown(
      CommandLine command, String option, String word, Object[] all) {
    return new ParameterException(
        command,
        option
            + ": there is no '"
            + word
            + "', but "
            + Stream.of(all).map(Object::toString).collect(Collectors.joining(", ")));
  }
}
