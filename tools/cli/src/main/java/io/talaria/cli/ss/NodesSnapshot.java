// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import io.talaria.monitor.Harmless;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the counters files of the nodes of {@code messaging} said at one moment, told in
 * docs/layouts.md.
 *
 * @param dir the run-time directory
 * @param atMs when, milliseconds since 1970
 * @param nodes the nodes of processes that live, by cluster and id
 * @param problems files that could not be read, a sentence each
 */
record NodesSnapshot(Path dir, long atMs, List<JsonNode> nodes, List<String> problems) {
  private static final String NAME = "*.messages";
  private static final Pattern OWNER = Pattern.compile("([0-9]{1,18})-([0-9]{1,18})-.*");
  private static final int VERSION = 2;
  private static final int MAX_BYTES = 8 << 20;

  static NodesSnapshot take(Path dir, long atMs) throws IOException {
    List<JsonNode> nodes = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    String namespace = namespace();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(dir, NAME)) {
      for (Path each : files) {
        read(each, namespace, nodes, problems);
      }
    } catch (NoSuchFileException e) {
      // No node has ever run.
    }
    nodes.sort(
        Comparator.<JsonNode, String>comparing(node -> node.path("cluster").asText())
            .thenComparingInt(node -> node.path("node").asInt()));
    return new NodesSnapshot(dir, atMs, nodes, problems);
  }

  private static void read(
      Path file, String namespace, List<JsonNode> nodes, List<String> problems) {
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) > MAX_BYTES) {
        problems.add(file + " is not a counters file of a node");
        return;
      }
      JsonNode node = Json.parse(Files.readString(file));
      int version = node == null ? 0 : node.path("talariaMessages").asInt();
      if (version != VERSION) {
        problems.add(file + " has version " + version + " instead of " + VERSION);
      } else if (!node.path("namespace").asText().equals(namespace) || lives(file)) {
        nodes.add(node);
      }
    } catch (NoSuchFileException e) {
      // It has just ended.
    } catch (IOException e) {
      problems.add(file + " cannot be read: " + e.getMessage());
    }
  }

  /** Whether the process lives that the name tells; its id may be another's by now. */
  private static boolean lives(Path file) throws IOException {
    Matcher name = OWNER.matcher(file.getFileName().toString());
    return name.matches()
        && ProcFiles.startTicks(Long.parseLong(name.group(1))) == Long.parseLong(name.group(2));
  }

  /** In which this process's numbers of processes count; others' cannot be looked for here. */
  private static String namespace() {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** For a script: what the files say, as it is. */
  Map<String, Object> tree() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("atMs", atMs);
    all.put("dir", dir.toString());
    all.put("nodes", nodes);
    all.put("problems", problems);
    return all;
  }

  /** Returns the text for the user. */
  String text() {
    StringBuilder text = new StringBuilder();
    if (nodes.isEmpty()) {
      text.append("no node of messaging is found in ").append(dir).append('\n');
    }
    if (!nodes.isEmpty()) {
      text.append(nodesTable().render());
      Table peers = peersTable();
      if (!peers.isEmpty()) {
        text.append('\n').append(peers.render());
      }
    }
    problems.forEach(each -> text.append(each).append('\n'));
    return text.toString();
  }

  private Table nodesTable() {
    Table table =
        new Table(
            "cluster",
            ">node",
            ">pid",
            ">peers",
            ">received",
            ">open requests",
            ">lost",
            ">dropped",
            ">failed",
            ">late",
            ">stalled");
    for (JsonNode node : nodes) {
      table.row(
          name(node),
          number(node, "node"),
          number(node, "pid"),
          Integer.toString(node.path("peers").size()),
          number(node, "received"),
          number(node, "openRequests"),
          number(node, "lost"),
          number(node, "dropped"),
          number(node, "failed"),
          number(node, "late"),
          number(node, "stalled"));
    }
    return table;
  }

  private Table peersTable() {
    Table table =
        new Table(
            "cluster",
            ">node",
            ">peer",
            "transport",
            "state",
            ">out",
            ">delivered",
            ">in",
            ">ring",
            ">requests",
            ">waiting",
            "reason");
    for (JsonNode node : nodes) {
      for (JsonNode peer : node.path("peers")) {
        table.row(
            name(node),
            number(node, "node"),
            number(peer, "peer"),
            text(peer, "transport"),
            text(peer, "state"),
            bytes(peer, "outBytes"),
            bytes(peer, "deliveredBytes"),
            bytes(peer, "inBytes"),
            bytes(peer, "unconsumedBytes") + " of " + bytes(peer, "dataRingBytes"),
            number(peer, "openRequests"),
            number(peer, "waiting"),
            text(peer, "reason"));
      }
    }
    return table;
  }

  private static String name(JsonNode node) {
    String cluster = text(node, "cluster");
    return cluster.isEmpty() ? "-" : cluster;
  }

  /** Another process wrote it: it must not reach the terminal as it is. */
  private static String text(JsonNode of, String field) {
    return Harmless.text(of.path(field).asText());
  }

  private static String number(JsonNode of, String field) {
    return Long.toString(of.path(field).asLong());
  }

  private static String bytes(JsonNode of, String field) {
    return Units.bytes(of.path(field).asDouble());
  }
}
