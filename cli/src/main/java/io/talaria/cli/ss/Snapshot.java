// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Role;
import io.talaria.nio.counters.CountersReader;
import io.talaria.nio.counters.DirectoryReport;
import io.talaria.nio.counters.ProcessInfo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What the counters files said at one moment, reduced to what the user wants to see.
 *
 * @param dir the run-time directory
 * @param atMs when, milliseconds since 1970
 * @param processes the processes, by id
 * @param problems files that could not be read, a sentence each
 */
record Snapshot(Path dir, long atMs, List<Entry> processes, List<String> problems) {

  /**
   * A process and those of its connections that the user wants to see.
   *
   * @param process the process
   * @param connections its connections and listeners
   */
  record Entry(ProcessInfo process, List<ConnectionInfo> connections) {}

  static Snapshot take(Path dir, Filter filter, long atMs) throws IOException {
    DirectoryReport report = CountersReader.readDirectory(dir);
    List<Entry> entries =
        report.processes().stream()
            .filter(filter::wants)
            .map(
                process ->
                    new Entry(
                        process, process.connections().stream().filter(filter::wants).toList()))
            .toList();
    return new Snapshot(dir, atMs, entries, report.problems());
  }

  /** All connections and listeners. */
  List<ConnectionInfo> connections() {
    return processes.stream().flatMap(entry -> entry.connections().stream()).toList();
  }

  /** How many listeners there are. */
  long listeners() {
    return connections().stream().filter(c -> c.role() == Role.LISTENER).count();
  }
}
