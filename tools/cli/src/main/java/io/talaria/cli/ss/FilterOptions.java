// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.ss.snapshot.Filter;
import io.talaria.cli.ss.snapshot.State;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say what to show. picocli fills it in. */
final class FilterOptions {
  private static final int MAX_PORT = 65_535;

  /** What looks like an address, not like a name to ask for. */
  private static final Pattern LITERAL =
      Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}|.*:.*");

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--pid",
      paramLabel = "PID",
      split = ",",
      description = "Only processes with this ID.")
  private List<Long> pids = new ArrayList<>();

  @Option(
      names = "--program",
      paramLabel = "TEXT",
      split = ",",
      description = "Only programs whose name contains TEXT.")
  private List<String> programs = new ArrayList<>();

  @Option(
      names = "--port",
      paramLabel = "PORT",
      split = ",",
      description = "Only connections with this local or remote port.")
  private List<Integer> ports = new ArrayList<>();

  @Option(
      names = "--address",
      paramLabel = "ADDRESS",
      split = ",",
      description = "Only connections with this local or remote IP address.")
  private List<String> addresses = new ArrayList<>();

  @Option(
      names = "--transport",
      paramLabel = "TRANSPORT",
      split = ",",
      description = "Only connections on this transport: tcp, shm or ucx.")
  private List<String> transports = new ArrayList<>();

  @Option(
      names = "--reason",
      paramLabel = "CODE",
      split = ",",
      description = "Only connections with this reason, such as peer-not-accelerated.")
  private List<String> reasons = new ArrayList<>();

  @Option(
      names = "--role",
      paramLabel = "ROLE",
      split = ",",
      description = "Only connections with this role: client, accepted or listener.")
  private List<String> roles = new ArrayList<>();

  @Option(
      names = "--state",
      paramLabel = "STATE",
      split = ",",
      description =
          "Only connections in this state: listening, negotiating, accelerated or"
              + " not-accelerated.")
  private List<String> states = new ArrayList<>();

  FilterOptions() {}

  /** Whether any was given. */
  boolean any() {
    return !(pids.isEmpty()
        && programs.isEmpty()
        && ports.isEmpty()
        && addresses.isEmpty()
        && transports.isEmpty()
        && reasons.isEmpty()
        && roles.isEmpty()
        && states.isEmpty());
  }

  /**
   * What the options say.
   *
   * @throws ParameterException if one has a value that does not exist; its message names those that
   *     do
   */
  Filter filter() {
    for (int port : ports) {
      if (port < 1 || port > MAX_PORT) {
        throw bad("--port " + port + " is not within 1 and " + MAX_PORT);
      }
    }
    return new Filter(
        new Filter.Processes(new HashSet<>(pids), new HashSet<>(programs)),
        new Filter.Ends(new HashSet<>(ports), literals()),
        new Filter.Kinds(
            choices("--transport", transports, NioTransport.values(), NioTransport::code),
            choices("--reason", reasons, Reason.values(), Reason::code),
            choices("--role", roles, Role.values(), Role::code),
            choices("--state", states, State.values(), State::code)));
  }

  private Set<InetAddress> literals() {
    Set<InetAddress> found = new HashSet<>();
    for (String text : addresses) {
      if (!LITERAL.matcher(text).matches()) {
        throw notLiteral(text);
      }
      try {
        found.add(InetAddress.getByName(text)); // no look-up for what begins like an address
      } catch (UnknownHostException e) {
        throw notLiteral(text);
      }
    }
    return found;
  }

  private ParameterException notLiteral(String text) {
    return bad("--address " + text + " is no IP address, such as 127.0.0.1 or ::1");
  }

  private <T> Set<T> choices(
      String option, List<String> names, T[] values, Function<T, String> code) {
    Set<T> found = new LinkedHashSet<>();
    for (String name : names) {
      found.add(choice(spec, option, name, values, code));
    }
    return found;
  }

  /** The value of a code, upper and lower case alike. */
  static <T> T choice(
      CommandSpec spec, String option, String name, T[] values, Function<T, String> code) {
    return Arrays.stream(values)
        .filter(value -> code.apply(value).equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new ParameterException(
                    spec.commandLine(),
                    option
                        + " "
                        + name
                        + " is none of "
                        + String.join(", ", Arrays.stream(values).map(code).toList())));
  }

  private ParameterException bad(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
