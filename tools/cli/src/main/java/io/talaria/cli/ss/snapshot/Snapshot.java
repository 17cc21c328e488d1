// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss.snapshot;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Role;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.DirectoryReport;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What the counters files said at one moment, reduced to what the user wants to see.
 *
 * @param dir the run-time directory
 * @param atMs when, milliseconds since 1970
 * @param processes the processes, by id
 * @param leftOut how many more processes there are, which the user does not want to see
 * @param problems files that could not be read, a sentence each
 */
public record Snapshot(
    Path dir, long atMs, List<Entry> processes, int leftOut, List<String> problems) {

  /**
   * A process and those of its connections that the user wants to see.
   *
   * @param process the process
   * @param connections its connections and listeners
   */
  public record Entry(ProcessInfo process, List<ConnectionInfo> connections) {}

  /**
   * A connection or listener, and whose it is.
   *
   * @param process the process
   * @param connection the connection or listener
   */
  public record Line(ProcessInfo process, ConnectionInfo connection) {
    /** Returns whether it listens, and is no connection. */
    public boolean listener() {
      return connection.role() == Role.LISTENER;
    }
  }

  /**
   * Reads the counters files of all processes.
   *
   * @param dir where they are
   * @param filter which connections are wanted
   * @param atMs the time, in milliseconds since the epoch
   * @throws IOException if the directory cannot be read
   */
  public static Snapshot take(Path dir, Filter filter, long atMs) throws IOException {
    DirectoryReport report = CountersReader.readDirectory(dir);
    List<Entry> entries =
        report.processes().stream()
            .filter(filter::wants)
            .map(process -> entry(process, filter))
            .filter(entry -> !entry.connections().isEmpty() || !filter.asksForConnections())
            .toList();
    return new Snapshot(
        dir, atMs, entries, report.processes().size() - entries.size(), report.problems());
  }

  private static Entry entry(ProcessInfo process, Filter filter) {
    return new Entry(process, process.connections().stream().filter(filter::wants).toList());
  }

  /** All connections and listeners, by process. */
  public List<Line> lines() {
    return processes.stream()
        .flatMap(
            entry ->
                entry.connections().stream()
                    .map(connection -> new Line(entry.process(), connection)))
        .toList();
  }
}
