// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A program that prints results, and what it printed in all rounds. */
final class Contender {
  final String name;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Map<Integer, List<double[]>> results = new TreeMap<>();

  Contender(String name, List<String> command, Map<String, String> environment) {
    this.name = name;
    this.command = command;
    this.environment = environment;
  }

  /** Runs it once; says why not if it fails. */
  boolean run(List<String> arguments) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(command);
    words.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    StringBuilder said = new StringBuilder();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line;
      while ((line = lines.readLine()) != null) {
        String[] fields = line.split(" ");
        if (fields.length == 4 && fields[0].equals("result")) {
          results
              .computeIfAbsent(Integer.parseInt(fields[1]), size -> new ArrayList<>())
              .add(new double[] {Double.parseDouble(fields[2]), Double.parseDouble(fields[3])});
        } else {
          said.append(line).append('\n');
        }
      }
    }
    if (process.waitFor() != 0) {
      System.err.println("bench mpj: " + name + " failed:\n" + said);
      return false;
    }
    return true;
  }

  /** Median of all rounds: column 0 is the half round trip in µs, 1 messages a second. */
  double median(int size, int column) {
    List<double[]> rounds = results.get(size);
    if (rounds == null) {
      return Double.NaN;
    }
    double[] values = rounds.stream().mapToDouble(r -> r[column]).sorted().toArray();
    return values[values.length / 2];
  }
}
