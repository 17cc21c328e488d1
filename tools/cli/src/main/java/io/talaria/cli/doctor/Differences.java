// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import io.talaria.nio.Reason;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** What two processes have in common for an accelerated connection, or rather what not. */
final class Differences {
  private static final String NAMESPACES = "talaria.namespaces";
  private static final String OWN = "own";

  private final List<Difference> found = new ArrayList<>();

  /**
   * Something that keeps a connection on TCP.
   *
   * @param text what it is, in which of the two
   * @param hint what to do about it
   */
  record Difference(String text, String hint) {}

  /**
   * One end.
   *
   * @param word client or server
   * @param facts what {@code /proc} says, or null
   * @param info its counters file, or null if none was found
   */
  record End(String word, ProcessFacts facts, ProcessInfo info) {
    String name() {
      return "the " + word + (facts == null ? "" : ", " + facts + ",");
    }
  }

  private Differences() {}

  /** What keeps the two from sharing memory, as far as it can be seen from outside. */
  static List<Difference> between(End client, End server) {
    Differences differences = new Differences();
    differences.alone(client);
    differences.alone(server);
    if (client.facts != null && server.facts != null) {
      differences.together(client, server);
    }
    if (client.info != null && server.info != null) {
      differences.versions(client.info, server.info);
    }
    return List.copyOf(differences.found);
  }

  private void add(String text, String hint) {
    found.add(new Difference(text, hint));
  }

  private void alone(End end) {
    ProcessFacts facts = end.facts;
    if (facts == null || end.info != null || !facts.readable()) {
      return;
    }
    if (!facts.java()) {
      add(
          end.name() + " is no JVM",
          "Nothing to do: Talaria accelerates connections between two JVMs.");
    } else if (!facts.switchedOn()) {
      add(
          end.name() + " runs without Talaria",
          "Start it with -javaagent:/path/to/talaria.jar, or by talaria run.");
    } else if (facts.property("talaria.enabled", "true").equals("false")) {
      add(end.name() + " has talaria.enabled=false", "Start it without that property.");
    } else if (!facts.hasAgent()) {
      add(
          end.name() + " has the provider, not the agent, and has made no NIO channel yet",
          "Its counters file is made with the first one. java.net.Socket makes none: start it with"
              + " the agent and talaria.sockets=true.");
    } else {
      add(
          end.name() + " has the agent and no counters file in " + facts.dir(),
          "Look at what it printed, in lines that begin with talaria or are of io.talaria.nio:"
              + " another provider is set, the directory cannot be made, is full or not this user's"
              + " alone, or the Java is older than 17.");
    }
  }

  private void together(End client, End server) {
    if (client.facts.user() != server.facts.user()) {
      add(
          "the client runs as user "
              + client.facts.user()
              + ", the server as "
              + server.facts.user(),
          Reason.OTHER_USER.hint());
      return; // all directories differ, too
    }
    if (differ(client, server, ProcessFacts::netNamespace)) {
      namespaces(client, server);
    }
    if (!client.facts.readable() || !server.facts.readable()) {
      return;
    }
    if (client.facts.switchedOn() && server.facts.switchedOn()) {
      directories("talaria.dir", client, server, ProcessFacts::dir);
      if (names(transports(client.facts)).contains("shm")
          && names(transports(server.facts)).contains("shm")) {
        directories("talaria.shm.dir", client, server, ProcessFacts::shmDir);
      }
      transports(client.facts, server.facts);
    }
  }

  /** If both share theirs, the reason of the connection says what else is missing. */
  private void namespaces(End client, End server) {
    String one = client.facts.property(NAMESPACES, OWN);
    String other = server.facts.property(NAMESPACES, OWN);
    if (one.equals(OWN) && other.equals(OWN)) {
      add(Reason.OTHER_NAMESPACE.sentence(), Reason.OTHER_NAMESPACE.hint());
    } else if (!one.equals(other)) {
      add(
          "they are in different network namespaces, and "
              + NAMESPACES
              + " is "
              + one
              + " in the client and "
              + other
              + " in the server",
          "Set " + NAMESPACES + "=shared in both.");
    }
  }

  private static boolean differ(End one, End other, Function<ProcessFacts, String> of) {
    String first = of.apply(one.facts);
    String second = of.apply(other.facts);
    return !first.isEmpty() && !second.isEmpty() && !first.equals(second);
  }

  private void directories(
      String property, End client, End server, Function<ProcessFacts, Path> of) {
    Path one = of.apply(client.facts);
    Path other = of.apply(server.facts);
    if (!one.equals(other)) {
      add(
          property + " is " + one + " in the client and " + other + " in the server",
          "Give both the same " + property + ".");
    } else if (differ(client, server, facts -> facts.identity(one))) {
      add(
          property + " is " + one + " in both, and not the same directory",
          "Mount one volume into both, and name a directory on it (docs/recipes.md).");
    }
  }

  private void transports(ProcessFacts client, ProcessFacts server) {
    String one = transports(client);
    String other = transports(server);
    List<String> common = new ArrayList<>(names(one));
    common.retainAll(names(other));
    if (common.isEmpty()) {
      add(
          "talaria.transports is " + one + " in the client and " + other + " in the server",
          "Name one that both have.");
    }
  }

  private static String transports(ProcessFacts of) {
    return of.property("talaria.transports", "shm");
  }

  private static List<String> names(String transports) {
    return List.of(transports.strip().split("\\s*,\\s*"));
  }

  private void versions(ProcessInfo client, ProcessInfo server) {
    if (!client.talariaVersion().equals(server.talariaVersion())) {
      add(
          "the client has Talaria "
              + client.talariaVersion()
              + ", the server "
              + server.talariaVersion(),
          Reason.VERSION_MISMATCH.hint());
    }
  }
}
