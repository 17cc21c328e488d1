// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Token;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say on which machines a {@link WorkerPool} measures: a mixin. */
public final class BenchmarkServerOptions {
  private static final int DEFAULT_PORT = 13_341;
  private static final String ANY = "0.0.0.0";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @ArgGroup(exclusive = true, multiplicity = "0..1")
  private Elsewhere elsewhere = new Elsewhere();

  /** One of the two. */
  static final class Elsewhere {
    @Option(
        names = "--listen",
        arity = "0..1",
        fallbackValue = "",
        paramLabel = "HOST:PORT",
        converter = Place.class,
        description =
            "Run the benchmark server for observe or bench ucx on another machine, until Ctrl-C."
                + " Default: all addresses, port 13341.")
    private HostPort listen;

    @Option(
        names = "--remote",
        paramLabel = "HOST[:PORT]",
        converter = Place.class,
        description =
            "Measure against the benchmark server (--listen) on that machine. Default port:"
                + " 13341.")
    private HostPort remote;
  }

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      description =
          "The token that --listen printed. With --listen: the token that clients must send."
              + " Default with --listen: random.")
  private String token;

  @Option(
      names = "--java-option",
      paramLabel = "OPTION",
      description =
          "Additional option for the measuring JVMs of this side, such as"
              + " -Dtalaria.rules=/etc/talaria.rules. Repeatable.")
  private List<String> javaOptions = List.of();

  /** Creates the options; picocli fills them. */
  public BenchmarkServerOptions() {}

  static final class Place extends HostPort.Converter {
    Place() {
      super(DEFAULT_PORT);
    }
  }

  /**
   * Checks that the options fit.
   *
   * @throws ParameterException if they do not
   */
  public void check() {
    HostPort remote = elsewhere.remote;
    if (remote != null && (token == null || remote.host().isEmpty())) {
      throw new ParameterException(
          command.commandLine(),
          "--remote needs --token, which the server has printed, and a host");
    }
    if (token != null && remote == null && !listens()) {
      throw new ParameterException(command.commandLine(), "--token needs --remote or --listen");
    }
  }

  /** Returns whether this side is to serve another machine. */
  public boolean listens() {
    return elsewhere.listen != null;
  }

  /** Returns the other machine, as the user has named it; null if all is measured on this one. */
  public HostPort remote() {
    return elsewhere.remote;
  }

  /** Returns further options for this side's JVMs. */
  public List<String> javaOptions() {
    return List.copyOf(javaOptions);
  }

  /**
   * Gathers the JVMs.
   *
   * @param processes how many at most
   * @param pinning on which cores those of this machine run
   * @param agent the agent's jar; null: looked for when it is needed
   * @param jars what is added to the class path
   * @return the JVMs, none of them started; the caller closes the pool
   * @throws HarnessException if there is no benchmark server, or it refuses
   */
  public WorkerPool workerPool(int processes, Pinning pinning, Path agent, List<Path> jars)
      throws HarnessException {
    JvmStarter client = starter("client", pinning.clientCore(), agent, jars);
    HostPort remote = elsewhere.remote;
    return remote == null
        ? WorkerPool.here(processes, starter("server", pinning.serverCore(), agent, jars), client)
        : WorkerPool.with(
            processes, new InetSocketAddress(remote.host(), remote.port()), token, client);
  }

  private JvmStarter starter(String name, int core, Path agent, List<Path> jars) {
    return new JvmStarter(name, core, agent, javaOptions, jars);
  }

  /**
   * Serves another machine until interrupted.
   *
   * @param pinning the JVMs run on the server's core
   * @param agent the agent's jar; null: looked for when it is needed
   * @param jars what is added to the class path
   * @return the exit status
   * @throws HarnessException if it cannot listen
   */
  public int serve(Pinning pinning, Path agent, List<Path> jars) throws HarnessException {
    CommandLine line = command.commandLine();
    PrintWriter console = line.getOut();
    String wanted = token == null ? Token.random() : token;
    HostPort listen = elsewhere.listen;
    String bind = listen.host().isEmpty() ? ANY : listen.host();
    try (BenchmarkServer benchmarkServer =
        new BenchmarkServer(
            new InetSocketAddress(bind, listen.port()),
            starter("server", pinning.serverCore(), agent, jars),
            wanted,
            BuildVersion.talaria(),
            text -> {
              console.println(text);
              console.flush();
            })) {
      console.println("listening on port " + benchmarkServer.port());
      console.println(
          "on the other machine: talaria "
              + command.qualifiedName().replaceFirst("^talaria ", "")
              + " --remote "
              + (bind.equals(ANY) ? "HOST" : bind)
              + ":"
              + benchmarkServer.port()
              + " --token "
              + wanted);
      console.flush();
      benchmarkServer.serve();
      return CommandLine.ExitCode.OK;
    } catch (IOException e) {
      throw new HarnessException(
          "cannot listen on " + bind + ":" + listen.port() + ": " + e.getMessage(), e);
    }
  }
}
