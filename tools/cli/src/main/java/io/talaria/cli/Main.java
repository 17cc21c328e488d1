// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import io.talaria.cli.doctor.DoctorCommand;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.ports.PortsCommand;
import io.talaria.cli.ss.SsCommand;
import io.talaria.cli.top.TopCommand;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceLoader;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The entry point of the command {@code talaria}. The launcher in the project's root does {@code
 * build}, {@code test} and {@code run} itself, and leaves the rest to this class.
 *
 * <p>Exit status: 0 for success, 1 for failure, 2 for wrong usage. An error is one line on the
 * standard error stream, and what a process has printed if that is short; {@code --verbose} adds
 * the rest, and the stack trace.
 */
@Command(
    name = "talaria",
    description = "Accelerates the TCP connections of unmodified Java programs.",
    mixinStandardHelpOptions = true,
    versionProvider = BuildVersion.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {DoctorCommand.class, PortsCommand.class, SsCommand.class, TopCommand.class})
public final class Main implements Runnable {
  @Spec private CommandSpec spec;

  @Option(
      names = "--verbose",
      description = "On errors, print the stack trace and all output of a failed process.",
      scope = ScopeType.INHERIT)
  private boolean verbose;

  private Main() {}

  /**
   * Runs the command and exits with its status.
   *
   * @param args the words after {@code talaria}
   */
  public static void main(String[] args) {
    CommandLine command = commandLine();
    StandardOutput out = new StandardOutput(command.getOut());
    int status = command.setOut(out).execute(args);
    if (out.failed() && status == CommandLine.ExitCode.OK) {
      command.getErr().println("talaria: cannot write to standard output");
      status = CommandLine.ExitCode.SOFTWARE;
    }
    System.exit(status);
  }

  /** Returns the whole command with its way to report errors. */
  public static CommandLine commandLine() {
    Main main = new Main();
    CommandLine command = new CommandLine(main);
    List<Subcommand> added = services();
    // What belongs to another command comes after it.
    added.sort(Comparator.comparing(one -> !one.parent().isEmpty()));
    added.forEach(one -> parent(command, one).addSubcommand(one));
    return command
        .setHelpFactory(ShortSynopsis::new)
        .setParameterExceptionHandler((e, args) -> main.reportUsage(e))
        .setExecutionExceptionHandler((e, failed, result) -> main.reportFailure(e, failed));
  }

  /** The commands of the jars that are there; without those that need a newer Java. */
  private static List<Subcommand> services() {
    List<Subcommand> found = new ArrayList<>();
    Iterator<Subcommand> all = ServiceLoader.load(Subcommand.class).iterator();
    while (true) {
      try {
        if (!all.hasNext()) {
          return found;
        }
        found.add(all.next());
      } catch (UnsupportedClassVersionError e) {
        // The launcher has said which Java it needs; here it is not there.
      }
    }
  }

  private static CommandLine parent(CommandLine root, Subcommand added) {
    return added.parent().isEmpty() ? root : root.getSubcommands().get(added.parent());
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }

  private int reportUsage(ParameterException e) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("talaria: " + Usage.sentence(e));
    err.println("try: " + command.getCommandSpec().qualifiedName() + " --help");
    if (verbose) {
      e.printStackTrace(err);
    }
    return CommandLine.ExitCode.USAGE;
  }

  private int reportFailure(Exception e, CommandLine command) {
    PrintWriter err = command.getErr();
    // A message without a type is for users; whatever else escapes is a mistake of ours.
    boolean forUsers = e.getMessage() != null && !(e instanceof RuntimeException);
    Complaint complaint = new Complaint(forUsers ? e.getMessage() : e.toString());
    err.println("talaria: " + complaint.brief());
    if (verbose) {
      e.printStackTrace(err);
    } else if (!forUsers) {
      err.println("talaria: --verbose shows where this comes from");
    } else if (complaint.tooMuch()) {
      err.println("talaria: --verbose shows all that was printed");
    }
    return CommandLine.ExitCode.SOFTWARE;
  }
}
