// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import io.talaria.cli.doctor.checks.Surroundings;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.JsonOption;
import io.talaria.cli.harness.Table;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code talaria doctor}. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Check what this machine supports, report what is missing, and say how to fix it. Creates"
          + " the run-time and shared-memory directories if they are missing, as a program with"
          + " Talaria does.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:Shared memory between processes of this host works; with --connect and --pid: no problem"
          + " was found; with --nodes: all nodes can be reached.",
      "1:Otherwise.",
      "2:Wrong usage."
    },
    footer = {
      "",
      "Examples:",
      "  talaria doctor",
      "  talaria doctor --shm-dir /mnt/memory/talaria",
      "  talaria doctor --rules /etc/talaria.rules --key /etc/talaria.key",
      "  talaria doctor --connect localhost:9092",
      "  talaria doctor --pid 4994 --dir /run/talaria",
      "  talaria doctor --nodes nodes.txt --cluster shop --key /etc/talaria.key",
      "  talaria doctor --json",
      "",
      "--connect and --pid read the counters files of running processes and what the kernel"
          + " reports about them, compare both ends, and say what to do about differences.",
      "",
      "--nodes reports which nodes of messaging can be reached, by which transport, and why not"
          + " by the others. It connects as a node of their cluster, and sends no messages."
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The run-time directory, as in -Dtalaria.dir (default: /tmp/talaria-UID).")
  private Path dir;

  @Option(
      names = "--shm-dir",
      paramLabel = "DIR",
      description =
          "The shared-memory directory, as in -Dtalaria.shm.dir (default: /dev/shm/talaria-UID).")
  private Path shmDir;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent jar (default: dist/talaria.jar).")
  private Path agent;

  @Option(
      names = "--rules",
      paramLabel = "FILE",
      description = "The rules file for connections between hosts, as in -Dtalaria.rules.")
  private Path rules;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "The key file that the hosts share, as in -Dtalaria.key.")
  private Path key;

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      description =
          "With --nodes: the cluster of the nodes, as in NodeOptions.cluster (default: empty).")
  private String cluster;

  @Mixin private JsonOption json = new JsonOption();

  @ArgGroup(exclusive = true)
  private Question question;

  /** What is asked about; the two exclude each other. */
  static final class Question {
    @Option(
        names = "--connect",
        paramLabel = "HOST:PORT",
        required = true,
        converter = Place.class,
        description = "Explain why connections to HOST:PORT are not accelerated.")
    private HostPort place;

    @Option(
        names = "--pid",
        paramLabel = "PID",
        required = true,
        description = "Explain why connections of this process are not accelerated.")
    private Long pid;

    @Option(
        names = "--nodes",
        paramLabel = "FILE",
        required = true,
        description =
            "Report which nodes of messaging can be reached; FILE has a line ID HOST:PORT for"
                + " each. Use --cluster, and --key if they have one. Needs Java 25.")
    private Path nodes;
  }

  /** A place with its port. */
  static final class Place implements ITypeConverter<HostPort> {
    @Override
    public HostPort convert(String text) {
      HostPort place = HostPort.parse(text, 0);
      if (place.port() == 0 || place.host().isEmpty()) {
        throw new TypeConversionException("'" + text + "' is no HOST:PORT, such as localhost:9092");
      }
      return place;
    }
  }

  /** Creates the command; picocli fills it in. */
  public DoctorCommand() {}

  @Override
  public Integer call() throws Exception {
    if (cluster != null && (question == null || question.nodes == null)) {
      throw new ParameterException(spec.commandLine(), "--cluster needs --nodes");
    }
    if (question != null && question.nodes != null) {
      return nodes();
    }
    Surroundings here = Surroundings.ofThisMachine(dir, shmDir, agent, rules, key);
    if (question != null) {
      Inquiry.Answer answer =
          question.place != null
              ? Inquiry.connect(here, question.place)
              : Inquiry.process(here, question.pid);
      hand(answer.tree(), answer.text());
      return answer.good() ? 0 : 1;
    }
    Diagnosis diagnosis = Diagnosis.of(here);
    hand(diagnosis.tree(), diagnosis.text());
    return diagnosis.sharedMemoryWorks() ? 0 : 1;
  }

  private int nodes() throws HarnessException, InterruptedException {
    List<NodesInquiry.Reached> all =
        inquiry().ask(question.nodes, cluster == null ? "" : cluster, key);
    Table table = new Table(">node", "address", "transport", "why");
    for (NodesInquiry.Reached each : all) {
      String transport = each.transport() == null ? "-" : each.transport();
      table.row(Integer.toString(each.id()), each.address(), transport, each.reason());
    }
    long reached = all.stream().filter(each -> each.transport() != null).count();
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("nodes", all);
    tree.put("reached", reached);
    hand(tree, table.render() + "\n" + reached + " of " + all.size() + " nodes are reached\n");
    return reached == all.size() ? 0 : 1;
  }

  private static NodesInquiry inquiry() throws HarnessException {
    try {
      Optional<NodesInquiry> found = ServiceLoader.load(NodesInquiry.class).findFirst();
      if (found.isPresent()) {
        return found.get();
      }
    } catch (UnsupportedClassVersionError e) {
      // As if it were not there.
    }
    throw new HarnessException(
        "doctor --nodes needs messaging, which is not here: call it by the launcher, with Java 25");
  }

  private void hand(Map<String, Object> tree, String text) throws HarnessException {
    PrintWriter out = spec.commandLine().getOut();
    if (json.wanted()) {
      json.write(out, tree);
    } else {
      out.print(text);
    }
    out.flush();
  }
}
