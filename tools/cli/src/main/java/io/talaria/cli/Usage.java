// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** What is said of wrong words, where the parser's own sentence is not for users. */
final class Usage {
  private static final String PREFIX = "Error: ";

  private Usage() {}

  /**
   * Returns what is wrong, in a sentence.
   *
   * @param wrong what the parser, or a command, found
   */
  static String sentence(ParameterException wrong) {
    ArgSpec option = wrong.getArgSpec();
    String word = wrong.getValue();
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      // A word that a repeatable parameter cannot take counts as unmatched, without a parameter.
      word = unmatched.getUnmatched().isEmpty() ? null : unmatched.getUnmatched().get(0);
      option =
          wrong.getCommandLine().getCommandSpec().positionalParameters().stream()
              .findFirst()
              .orElse(null);
    }
    if (option != null && word != null && !word.startsWith("-") && takesConstants(option)) {
      return name(option)
          + ": there is no '"
          + word.strip()
          + "', but "
          + Arrays.stream(option.auxiliaryTypes()[0].getEnumConstants())
              .map(Object::toString)
              .collect(Collectors.joining(", "));
    }
    String message = wrong.getMessage();
    return message.startsWith(PREFIX) ? message.substring(PREFIX.length()) : message;
  }

  private static boolean takesConstants(ArgSpec option) {
    return option.converters().length == 0 && option.auxiliaryTypes()[0].isEnum();
  }

  private static String name(ArgSpec option) {
    return option instanceof OptionSpec named ? named.longestName() : option.paramLabel();
  }
}
