// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.config;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The services, by their TCP ports, whose connections may leave TCP: those that are named, or all,
 * less those that are excepted. Immutable.
 *
 * <p>The port is the service's: where a listener listens, on both sides of its connections.
 */
public final class Ports {
  private static final String ALL = "all";
  private static final String NONE = "none";
  private static final int MIN_PORT = 1;
  private static final int MAX_PORT = 65_535;
  private static final int MAX_DIGITS = 5;
  private static final String LIST =
      "a list, by commas, of ports from "
          + MIN_PORT
          + " to "
          + MAX_PORT
          + " and ranges such as 9092-9094";

  private final String named;
  private final String excepted;

  /** Null: all. */
  private final List<Range> included;

  /** Null: none. */
  private final List<Range> excluded;

  private record Range(int first, int last) {
    boolean has(int port) {
      return port >= first && port <= last;
    }

    @Override
    public String toString() {
      return first == last ? Integer.toString(first) : first + "-" + last;
    }
  }

  private Ports(List<Range> included, List<Range> excluded) {
    this.included = included;
    this.excluded = excluded;
    named = included == null ? ALL : text(included);
    excepted = excluded == null ? NONE : text(excluded);
  }

  static Ports read(Function<String, String> property) {
    return new Ports(
        ranges(property, Config.PORTS, ALL), ranges(property, Config.PORTS_EXCEPT, NONE));
  }

  private static String text(List<Range> ranges) {
    return ranges.stream().map(Range::toString).collect(Collectors.joining(","));
  }

  /** Null for the word that stands for all or none. */
  private static List<Range> ranges(Function<String, String> of, String property, String standard) {
    String value = of.apply(property);
    if (value == null || value.equals(standard)) {
      return null;
    }
    List<Range> ranges = new ArrayList<>();
    for (String each : value.split(",", -1)) {
      String part = each.trim();
      int dash = part.indexOf('-');
      int first = port(dash < 0 ? part : part.substring(0, dash));
      int last = dash < 0 ? first : port(part.substring(dash + 1));
      if (first < MIN_PORT || last < first) {
        throw Config.invalid(property, value, standard + ", or " + LIST);
      }
      ranges.add(new Range(first, last));
    }
    return List.copyOf(ranges);
  }

  /** The number of a port, or -1 if it is none. */
  private static int port(String text) {
    boolean number = !text.isEmpty() && text.length() <= MAX_DIGITS;
    for (int i = 0; i < text.length(); i++) {
      number &= text.charAt(i) >= '0' && text.charAt(i) <= '9';
    }
    int port = number ? Integer.parseInt(text) : -1;
    return port <= MAX_PORT ? port : -1;
  }

  /**
   * Whether connections of a service may leave TCP, as far as its port says.
   *
   * @param port of the service
   */
  public boolean have(int port) {
    return (included == null || have(included, port))
        && (excluded == null || !have(excluded, port));
  }

  private static boolean have(List<Range> ranges, int port) {
    for (Range range : ranges) {
      if (range.has(port)) {
        return true;
      }
    }
    return false;
  }

  /** {@value Config#PORTS}: {@code all}, or the list. */
  public String named() {
    return named;
  }

  /** {@value Config#PORTS_EXCEPT}: {@code none}, or the list. */
  public String excepted() {
    return excepted;
  }

  /** Which connections they are, in words that follow «NIO connections»; empty for all. */
  public String words() {
    return (included == null ? "" : " of the ports " + named)
        + (excluded == null ? "" : " but those of the ports " + excepted);
  }
}
