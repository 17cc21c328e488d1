// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeDirectory;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Peer;
import io.talaria.workloads.messages.MessagesNode.Line;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria example messages}. */
@Command(
    name = "messages",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Ask another node: each line of standard input is a request, and what comes back is printed.",
      "",
      "Without options it is two nodes in two processes. The end of the input (Ctrl-D) ends it. With"
          + " --node it is one node; a line is then the id of another, and the text for it.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria example messages",
      "  echo hello | talaria example messages",
      "  talaria example messages --node 2 --respond",
      "  echo 2 hello | talaria example messages --node 1",
      "  talaria example messages --node 1 --peers nodes.txt --listen 127.0.0.1:4001",
      "",
      "Exit status: 0 at the end of the input, 1 if a node cannot start or was not reached, 2 wrong"
          + " usage."
    })
public final class MessagesCommand implements Callable<Integer> {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  @Spec private CommandSpec spec;

  @Option(names = "--node", paramLabel = "ID", description = "Be this node alone, 0 to 65534.")
  private Integer id;

  @Option(
      names = "--peers",
      paramLabel = "FILE",
      description =
          "Where nodes of other hosts are, a line ID HOST:PORT each. Nodes of this host need none.")
  private Path peers;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "Listen for nodes by TCP, too. Default: nodes of this host only.")
  private String listen;

  @Option(names = "--respond", description = "Send no requests, respond until Ctrl-C.")
  private boolean respond;

  /** Creates the command; picocli fills it. */
  public MessagesCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (id == null && (peers != null || listen != null || respond)) {
      throw new ParameterException(
          spec.commandLine(), "--peers, --listen and --respond are for one node: say --node, too");
    }
    try {
      return id == null ? two() : one();
    } catch (IOException | IllegalArgumentException e) {
      spec.commandLine().getErr().println("talaria: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private int two() throws IOException, InterruptedException {
    String cluster = "example-" + ProcessHandle.current().pid();
    Process other = MessagesNode.start(cluster);
    try (Node node = Node.start(MessagesNode.options(1, cluster))) {
      return talk(node, node.peer(MessagesNode.OTHER));
    } finally {
      other.getOutputStream().close(); // ends it
      if (!other.waitFor(LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
        other.destroyForcibly();
      }
    }
  }

  private int one() throws IOException, InterruptedException {
    NodeOptions options = MessagesNode.options(id, "example");
    if (peers != null) {
      options.directory(NodeDirectory.file(peers));
    }
    if (listen != null) {
      int colon = listen.lastIndexOf(':');
      try {
        options.listen(listen.substring(0, colon), Integer.parseInt(listen.substring(colon + 1)));
      } catch (NumberFormatException | IndexOutOfBoundsException e) {
        throw new ParameterException(
            spec.commandLine(), "--listen is '" + listen + "', it must be HOST:PORT", e);
      }
    }
    try (Node node = Node.start(options)) {
      if (!respond) {
        return talk(node, null);
      }
      spec.commandLine().getErr().println("node " + id + " responds; Ctrl-C ends it");
      Thread.sleep(Long.MAX_VALUE);
      return CommandLine.ExitCode.OK;
    }
  }

  /** Asks a node, or the one that each line begins with. */
  private int talk(Node node, Peer to) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
    int status = CommandLine.ExitCode.OK;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      try {
        Peer peer = to != null ? to : node.peer(Integer.parseInt(line.split(" ", 2)[0]));
        String text = to != null ? line : line.substring(line.indexOf(' ') + 1);
        Line back = peer.request(new Line(text), Line.class, LIMIT);
        out.println(back.text() + " (" + peer + ", " + peer.transport() + ")");
      } catch (MessagingException | IllegalArgumentException e) {
        out.println(e.getMessage());
        status = CommandLine.ExitCode.SOFTWARE;
      }
      out.flush();
    }
    return status;
  }
}
