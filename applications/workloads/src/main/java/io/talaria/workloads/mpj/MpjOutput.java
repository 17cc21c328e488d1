// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.cli.harness.HarnessException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What ranks have printed, among other things that launchers and libraries say.
 *
 * @param said all of it
 */
record MpjOutput(String said) {
  private static final Pattern RESULT =
      Pattern.compile("result [\\w-]+ (\\d+) (\\d+) (\\d+)(?: (\\d+))?");
  private static final Pattern TRANSPORT = Pattern.compile(Ranks.TRANSPORT + " (\\d+) (\\d+) (.*)");
  private static final Pattern MEMORY = Pattern.compile(Ranks.MEMORY + " (\\d+)");
  private static final Pattern VERIFIED =
      Pattern.compile("class \\w, \\d+ ranks: ([\\d.]+) MOPS, [\\d.]+ s, verified");
  private static final Pattern EQUAL =
      Pattern.compile("steps, \\d+ ranks: ([\\d.]+) s, .*, equal to the bit");
  private static final Pattern COMMUNICATION =
      Pattern.compile("([\\d.]+) % of the time in communication");
  private static final double MILLION = 1e6;
  private static final double NS = 1e9;
  private static final int KIB = 1 << 10;

  /**
   * Returns a figure for each size, in the unit of the pattern's quantity.
   *
   * @param job what they did
   * @param elapsedNs how long the job took from its start to its end
   * @return none where a figure is missing, or a result was wrong
   */
  Map<Integer, Double> figures(MpjJob job, long elapsedNs) {
    return switch (job.pattern()) {
      case START -> Map.of(0, (double) elapsedNs);
      case MEMORY -> memory(job.ranks());
      default -> job.pattern().kernel() == null ? results(job.pattern()) : kernel();
    };
  }

  private Map<Integer, Double> results(MpjPattern pattern) {
    Map<Integer, Double> found = new TreeMap<>();
    Matcher result = RESULT.matcher(said);
    while (result.find()) {
      int bytes = Integer.parseInt(result.group(1));
      long iterations = Long.parseLong(result.group(2));
      found.put(bytes, pattern.figure(bytes, iterations, Long.parseLong(result.group(3))));
    }
    return found;
  }

  /**
   * Returns the figure of the fastest block of each size, in the unit of the pattern's quantity.
   *
   * @param job what they did
   * @return none where the ranks told no block
   */
  Map<Integer, Double> fastest(MpjJob job) {
    Map<Integer, Double> found = new TreeMap<>();
    Matcher result = RESULT.matcher(said);
    while (result.find()) {
      if (result.group(4) != null) {
        int bytes = Integer.parseInt(result.group(1));
        long cost = Long.parseLong(result.group(4));
        found.put(bytes, job.pattern().figure(bytes, job.count(bytes), cost));
      }
    }
    return found;
  }

  /** The mean of the ranks, in bytes. */
  private Map<Integer, Double> memory(int ranks) {
    List<Double> all =
        MEMORY.matcher(said).results().map(one -> Double.parseDouble(one.group(1)) * KIB).toList();
    return all.size() == ranks
        ? Map.of(0, all.stream().mapToDouble(Double::doubleValue).sum() / ranks)
        : Map.of();
  }

  /** Operations a second, or nanoseconds. */
  private Map<Integer, Double> kernel() {
    Matcher operations = VERIFIED.matcher(said);
    if (operations.find()) {
      return Map.of(0, Double.parseDouble(operations.group(1)) * MILLION);
    }
    Matcher seconds = EQUAL.matcher(said);
    return seconds.find() ? Map.of(0, Double.parseDouble(seconds.group(1)) * NS) : Map.of();
  }

  /** Returns the percent of its time that a kernel spent on messages; NaN if it did not say. */
  double communication() {
    Matcher percent = COMMUNICATION.matcher(said);
    return percent.find() ? Double.parseDouble(percent.group(1)) : Double.NaN;
  }

  /**
   * Checks that the connections between ranks have left TCP.
   *
   * @throws HarnessException if one has not
   */
  void requireAccelerated() throws HarnessException {
    Matcher transport = TRANSPORT.matcher(said);
    if (!transport.find()) {
      throw new HarnessException("the ranks did not say which transport their connections took");
    }
    if (Integer.parseInt(transport.group(1)) == 0 || Integer.parseInt(transport.group(2)) != 0) {
      throw new HarnessException("NOT ACCELERATED: " + transport.group(3));
    }
  }
}
