// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

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
      "Says what this machine can do, what is missing, and what to do about it. It makes the run-time and the"
          + " shared-memory directory if they do not exist, as a program with Talaria would.",
      "",
      "With --connect or --pid: why connections to a place, or of a process, are not accelerated. It asks the"
          + " counters files of the processes that live, and what the kernel tells of them, names"
          + " what differs between the two ends, and what to do about it.",
      "",
      "With --nodes: which nodes of messaging are reached from here, by which transport, and why not by"
          + " another. It connects to them as a node of their cluster, and sends nothing.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:Shared memory between processes of this host works; with --connect and --pid: nothing is"
          + " amiss; with --nodes: all are reached.",
      "1:It does not; or something is amiss.",
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
      "  talaria doctor --json"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The run-time directory to look at, as in -Dtalaria.dir.")
  private Path dir;

  @Option(
      names = "--shm-dir",
      paramLabel = "DIR",
      description = "The shared-memory directory to look at, as in -Dtalaria.shm.dir.")
  private Path shmDir;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent's jar (default: dist/talaria.jar).")
  private Path agent;

  @Option(
      names = "--rules",
      paramLabel = "FILE",
      description = "The file of rules for other hosts, as in -Dtalaria.rules.")
  private Path rules;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "The key that hosts share, as in -Dtalaria.key.")
  private Path key;

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      description =
          "The cluster of the nodes of --nodes, as in NodeOptions.cluster (default: empty).")
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
            "Which nodes of messaging are reached? A line ID HOST:PORT for each. With --cluster,"
                + " and --key if they have one. Needs Java 25.")
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
      throw new ParameterException(spec.commandLine(), "--cluster is for --nodes");
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
