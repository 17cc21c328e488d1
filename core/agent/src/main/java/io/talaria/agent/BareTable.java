// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.config.Config;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.DirectoryReport;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The live table where there is nothing but the agent's jar: plain columns, bytes as they are. */
final class BareTable {
  private static final int USAGE = 2;
  private static final List<String> HEADER =
      List.of("pid", "program", "role", "local", "remote", "transport", "reason", "in", "out");

  private BareTable() {}

  /**
   * Prints what is connected now.
   *
   * @param options {@code --dir DIR}, {@code --help} or none
   * @return the exit status
   */
  static int print(List<String> options, PrintStream out, PrintStream err) {
    if (options.contains("--help") || options.contains("-h")) {
      out.println("Usage: java -jar talaria.jar ss [--dir DIR]");
      out.println();
      out.println(
          "The connections of all Talaria processes of this user on this host, with transport and"
              + " reason. DIR is their talaria.dir, if it is not the usual one.");
      return 0;
    }
    boolean named = options.size() == 2 && options.get(0).equals("--dir");
    if (!options.isEmpty() && !named) {
      err.println(
          "talaria: ss of the jar alone has the options --dir DIR and --help, not "
              + String.join(" ", options)
              + "; bin/talaria of the release has all");
      return USAGE;
    }
    try {
      Path dir = named ? Path.of(options.get(1)) : Config.load().dir();
      show(CountersReader.readDirectory(dir), dir, out);
      return 0;
    } catch (IOException | IllegalArgumentException e) {
      boolean known = e instanceof IllegalArgumentException && !(e instanceof InvalidPathException);
      err.println("talaria: " + (known ? e.getMessage() : e.toString()));
      return 1;
    }
  }

  private static void show(DirectoryReport report, Path dir, PrintStream out) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADER);
    for (ProcessInfo process : report.processes()) {
      for (ConnectionInfo connection : process.connections()) {
        rows.add(
            List.of(
                Long.toString(process.pid()),
                process.program(),
                connection.role().code(),
                address(connection.local()),
                address(connection.remote()),
                connection.transport().code(),
                connection.reason().code(),
                Long.toString(connection.inBytes()),
                Long.toString(connection.outBytes())));
      }
    }
    if (report.processes().isEmpty()) {
      out.println("no process with Talaria is found in " + dir);
    } else {
      int[] widths = widths(rows);
      rows.forEach(row -> out.println(line(row, widths)));
    }
    report.problems().forEach(problem -> out.println("not read: " + problem));
  }

  private static String address(InetSocketAddress address) {
    if (address == null) {
      return "-";
    }
    String host = address.getAddress().getHostAddress();
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
  }

  private static int[] widths(List<List<String>> rows) {
    int[] widths = new int[HEADER.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return widths;
  }

  private static String line(List<String> row, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < row.size(); i++) {
      line.append(row.get(i));
      if (i < row.size() - 1) {
        line.append(" ".repeat(widths[i] - row.get(i).length() + 2));
      }
    }
    return line.toString();
  }
}
