// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options about how a fabric is queried. The defaults and ranges are those of the monitor. */
public final class FabricChoice {
  private static final int MAX_TIMEOUT_MS = 60_000;
  private static final int MAX_TRIES = 10;
  private static final int MAX_HOPS = 63;
  private static final int MAX_QUERIES = 100_000;
  private static final int MAX_PORT = 254;

  @Option(
      names = "--from",
      paramLabel = "DEVICE[/PORT]",
      description =
          "The adapter of this host that sends queries to the fabric (default: the first with an"
              + " active port).")
  private String from;

  @Option(
      names = "--timeout-ms",
      paramLabel = "MS",
      description = "Milliseconds to wait for each response of the fabric (default: 100).")
  private Integer timeoutMs;

  @Option(
      names = "--tries",
      paramLabel = "N",
      description = "How often to send a query to the fabric before giving up (default: 2).")
  private Integer tries;

  @Option(
      names = "--max-hops",
      paramLabel = "N",
      description = "Maximum distance in the fabric, in switches (default: the whole fabric).")
  private Integer maxHops;

  @Option(
      names = "--queries",
      paramLabel = "N",
      description = "Maximum number of queries to the fabric per second (default: 200).")
  private Integer queries;

  /** Creates it; picocli fills it in. */
  public FabricChoice() {}

  /** What was chosen; -1 and empty where nothing was. */
  record Chosen(String device, int port, int timeoutMs, int tries, int maxHops, int queries) {}

  /** Refuses options that mean nothing here. */
  void refuseWithoutFabric(CommandLine command) {
    String wrong =
        from != null
            ? "--from"
            : timeoutMs != null
                ? "--timeout-ms"
                : tries != null
                    ? "--tries"
                    : maxHops != null ? "--max-hops" : queries != null ? "--queries" : null;
    if (wrong != null) {
      throw new ParameterException(command, wrong + " needs --fabric");
    }
  }

  /** Returns the options that were given, for another command. */
  public List<String> words() {
    List<String> words = new ArrayList<>();
    add(words, "--from", from);
    add(words, "--timeout-ms", timeoutMs);
    add(words, "--tries", tries);
    add(words, "--max-hops", maxHops);
    add(words, "--queries", queries);
    return words;
  }

  private static void add(List<String> words, String name, Object value) {
    if (value != null) {
      words.add(name + "=" + value);
    }
  }

  /** What was chosen, checked. */
  Chosen chosen(CommandLine command) {
    String device = "";
    int port = 0;
    if (from != null) {
      int slash = from.indexOf('/');
      device = slash < 0 ? from : from.substring(0, slash);
      String number = slash < 0 ? "0" : from.substring(slash + 1);
      if (!device.matches("[A-Za-z0-9_.-]{1,19}") || !number.matches("\\d{1,3}")) {
        throw new ParameterException(
            command, "--from " + from + " is no DEVICE[/PORT], such as mlx5_0/1");
      }
      port = range(command, "--from's port", Integer.valueOf(number), 0, MAX_PORT);
    }
    return new Chosen(
        device,
        port,
        range(command, "--timeout-ms", timeoutMs, 1, MAX_TIMEOUT_MS),
        range(command, "--tries", tries, 1, MAX_TRIES),
        range(command, "--max-hops", maxHops, 0, MAX_HOPS),
        range(command, "--queries", queries, 1, MAX_QUERIES));
  }

  private static int range(CommandLine command, String name, Integer value, int least, int most) {
    if (value == null) {
      return -1;
    }
    if (value < least || value > most) {
      throw new ParameterException(
          command, name + " " + value + " is not within " + least + " and " + most);
    }
    return value;
  }
}
