// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.util.HashMap;
import java.util.Map;

/** The arguments of a child program, each written {@code name=value}. Immutable. */
public final class Args {
  private final Map<String, String> values = new HashMap<>();

  /**
   * Takes a program's arguments apart.
   *
   * @param arguments each of the form {@code name=value}
   * @throws IllegalArgumentException if one has no equals sign
   */
  public Args(String[] arguments) {
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException("no name=value: " + argument);
      }
      values.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
  }

  /**
   * An argument as text.
   *
   * @param name its name
   * @param fallback what it is when not given
   * @return the value
   */
  public String text(String name, String fallback) {
    return values.getOrDefault(name, fallback);
  }

  /**
   * An argument that must be one of two words.
   *
   * @param name its name
   * @param yes the word that means true
   * @param no the word that means false, which is also the fallback
   * @return whether it is the first of the two
   */
  public boolean is(String name, String yes, String no) {
    String value = text(name, no);
    if (!value.equals(yes) && !value.equals(no)) {
      throw new IllegalArgumentException(name + "=" + value + " is neither " + yes + " nor " + no);
    }
    return value.equals(yes);
  }

  /**
   * An argument as a whole number.
   *
   * @param name its name
   * @param fallback what it is when not given
   * @return the value
   */
  public long number(String name, long fallback) {
    String value = values.get(name);
    return value == null ? fallback : Long.parseLong(value);
  }

  /**
   * An argument as an int.
   *
   * @param name its name
   * @param fallback what it is when not given
   * @return the value
   */
  public int count(String name, int fallback) {
    return Math.toIntExact(number(name, fallback));
  }
}
