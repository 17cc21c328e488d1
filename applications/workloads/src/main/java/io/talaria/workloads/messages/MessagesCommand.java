// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeDirectory;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
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
      "Send each line of standard input as a request to another node, and print the response.",
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
      "Without options it runs two nodes in two processes. With --node it runs one node; each"
          + " line is then the ID of another node and the text for it. Ctrl-D (end of input) ends"
          + " it.",
      "",
      "Exit status: 0 end of input, 1 a node could not start or be reached, 2 wrong usage."
    })
public final class MessagesCommand implements Callable<Integer> {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  @Spec private CommandSpec spec;

  @Option(
      names = "--node",
      paramLabel = "ID",
      description = "Run only the node with this ID, 0 to 65534.")
  private Integer id;

  @Option(
      names = "--peers",
      paramLabel = "FILE",
      description =
          "File with the nodes on other hosts, one line ID HOST:PORT each. Nodes on this host"
              + " need no line.")
  private Path peers;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description =
          "Also listen for nodes on other hosts, by TCP. Default: only nodes on this host.")
  private String listen;

  @Option(names = "--respond", description = "Only respond to requests, until Ctrl-C.")
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
    try (Node node = Nodes.start(MessagesNode.options(1, cluster))) {
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
    try (Node node = Nodes.start(options)) {
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
