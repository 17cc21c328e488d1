// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Limits;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say which side of a workload a command is: a mixin of it. */
public final class SideOptions {
  /** Where a server listens, and where a client looks for it, if nothing is said. */
  static final int DEFAULT_PORT = 2998;

  private static final HostPort ANY = new HostPort("0.0.0.0", DEFAULT_PORT);

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = {"-s", "--listen"},
      arity = "0..1",
      fallbackValue = "",
      paramLabel = "HOST:PORT",
      converter = Converter.class,
      description = "Run only the server, until Ctrl-C. Default: 0.0.0.0:2998 (all addresses).")
  private HostPort listen;

  @Option(
      names = {"-r", "--remote"},
      split = ",",
      paramLabel = "HOST[:PORT]",
      converter = Converter.class,
      description = "Run only the client, against the servers given. Default port: 2998.")
  private List<HostPort> remotes = new ArrayList<>();

  /** Creates the options; picocli fills them. */
  public SideOptions() {}

  static final class Converter extends HostPort.Converter {
    Converter() {
      super(DEFAULT_PORT);
    }
  }

  /** Which side. */
  public enum Side {
    /** Both, on this machine. */
    BOTH,
    /** The server only. */
    SERVER,
    /** The client only. */
    CLIENT
  }

  /**
   * Returns which side is wanted.
   *
   * @throws ParameterException if the options do not fit
   */
  public Side side() {
    boolean serves = listen != null;
    if (serves && !remotes.isEmpty()) {
      throw new ParameterException(command.commandLine(), "--listen does not go with --remote");
    }
    for (HostPort remote : remotes) {
      if (remote.host().isEmpty()) {
        throw new ParameterException(
            command.commandLine(), "--remote needs a host: '" + remote + "'");
      }
    }
    return serves ? Side.SERVER : remotes.isEmpty() ? Side.BOTH : Side.CLIENT;
  }

  /**
   * Returns how many servers are started on this machine.
   *
   * @param servers what the user says by {@code --servers}; null if nothing
   * @param usual what holds then
   * @param most how many there may be
   * @throws ParameterException if there are too many, or none is started here
   */
  public int here(Integer servers, int usual, int most) {
    if (servers == null) {
      return usual;
    }
    Limits.check(command.commandLine(), "--servers", servers, 1, most);
    if (side() != Side.BOTH) {
      throw new ParameterException(
          command.commandLine(), "--servers does not go with --listen or --remote");
    }
    return servers;
  }

  /** Returns where a server listens. */
  public HostPort address() {
    HostPort chosen = listen != null ? listen : ANY;
    return chosen.host().isEmpty() ? new HostPort(ANY.host(), chosen.port()) : chosen;
  }

  /**
   * Returns where the server of a client is.
   *
   * @throws ParameterException if there is more than one
   */
  public HostPort remote() {
    if (remotes.size() != 1) {
      throw new ParameterException(
          command.commandLine(), "--remote names one server here, not " + remotes.size());
    }
    return remotes.get(0);
  }

  /**
   * Returns where the servers of a client are.
   *
   * @param several whether the workload can have several
   * @return none if this is no client
   * @throws ParameterException if there are too many
   */
  public List<HostPort> remotes(boolean several) {
    return remotes.isEmpty() || several ? List.copyOf(remotes) : List.of(remote());
  }

  /**
   * Checks that both sides are wanted on this machine, for what cannot be elsewhere.
   *
   * @throws ParameterException if one side is wanted alone
   */
  public void requireBoth() {
    if (side() != Side.BOTH) {
      throw new ParameterException(
          command.commandLine(),
          "--listen, --remote: this starts both sides on this machine; leave them out");
    }
  }
}
