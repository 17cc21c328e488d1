// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.util.HashMap;
import java.util.Map;

/**
 * Something a child said: {@code @name key=value ...}.
 *
 * @param name what happened
 * @param values the rest of the line
 * @param nanoTime when this process heard of it
 */
public record Event(String name, Map<String, String> values, long nanoTime) {

  static Event parse(String line) {
    String[] words = line.substring(1).split(" ");
    Map<String, String> values = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
    }
    return new Event(words[0], values, System.nanoTime());
  }

  /**
   * A value of the event.
   *
   * @param key its name
   * @return the text
   */
  public String text(String key) {
    String value = values.get(key);
    if (value == null) {
      throw new AssertionError("the event " + this + " has no " + key);
    }
    return value;
  }

  /**
   * A value of the event as a number.
   *
   * @param key its name
   * @return the number
   */
  public long number(String key) {
    return Long.parseLong(text(key));
  }

  /**
   * The port in the event.
   *
   * @return the value of {@code port}
   */
  public int port() {
    return (int) number("port");
  }
}
