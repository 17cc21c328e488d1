// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import io.talaria.cli.doctor.Differences.Difference;
import io.talaria.cli.doctor.Differences.End;
import io.talaria.cli.doctor.checks.BetweenHostsChecks;
import io.talaria.cli.doctor.checks.Finding;
import io.talaria.cli.doctor.checks.Findings;
import io.talaria.cli.doctor.checks.Status;
import io.talaria.cli.doctor.checks.Surroundings;
import io.talaria.cli.doctor.checks.TcpTable;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.ss.Show;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.ProcessInfo;
import io.talaria.nio.hosts.HostRules;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Explains why connections to an address, or of a process, are not accelerated. Asks the counters
 * files of the processes that live, the kernel's list of sockets and {@code /proc}; touches no
 * process.
 */
final class Inquiry {
  private static final String CONNECTION = "connection";
  private static final String SERVER = "server";
  private static final int MAX_NAMED = 3;
  private static final String NOT_SEEN =
      "Talaria is active there, but this connection does not use it: it was created by"
          + " java.net.Socket without talaria.sockets, by an asynchronous channel, or by a native transport";
  private static final String NOT_SEEN_HINT =
      "Set talaria.sockets=true for java.net.Socket; see docs/limits.md for the rest.";

  private final Surroundings here;
  private final TcpTable table;
  private final List<Finding> findings = new ArrayList<>();
  private final Map<Path, List<ProcessInfo>> looked = new LinkedHashMap<>();
  private final List<Owned> all = new ArrayList<>();
  private final Map<Group, Integer> groups = new LinkedHashMap<>();
  private int accelerated;
  private int notAccelerated;

  /** A connection or listener of a process with Talaria, and whose it is. */
  private record Owned(ProcessInfo process, ConnectionInfo connection) {}

  /** Connections of which the same is to be said. */
  private record Group(
      String client,
      String server,
      InetSocketAddress service,
      NioTransport transport,
      Reason reason,
      List<Difference> differences) {}

  /**
   * What was found.
   *
   * @param findings in order
   * @param accelerated how many connections are accelerated, or on the way to it
   * @param notAccelerated how many are not
   * @param verdict the whole in a sentence
   */
  record Answer(List<Finding> findings, int accelerated, int notAccelerated, String verdict) {
    /** Whether nothing is amiss. */
    boolean good() {
      return findings.stream().allMatch(finding -> finding.status() == Status.OK);
    }

    String text() {
      return Findings.text(findings) + "\n" + verdict + "\n";
    }

    Map<String, Object> tree() {
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("accelerated", accelerated);
      tree.put("notAccelerated", notAccelerated);
      tree.put("verdict", verdict);
      tree.put("checks", Findings.tree(findings));
      return tree;
    }
  }

  private Inquiry(Surroundings here) throws IOException {
    this.here = here;
    table = TcpTable.read(here);
    look(here.dir());
  }

  private void look(Path dir) throws IOException {
    if (!looked.containsKey(dir)) {
      List<ProcessInfo> processes = CountersReader.readDirectory(dir).processes();
      looked.put(dir, processes);
      for (ProcessInfo process : processes) {
        process.connections().forEach(one -> all.add(new Owned(process, one)));
      }
    }
  }

  /** Looks where a process has its counters, if that is elsewhere. */
  private ProcessFacts facts(Long pid) throws IOException {
    ProcessFacts facts = pid == null ? null : ProcessFacts.of(here, pid);
    if (facts != null && facts.readable() && facts.switchedOn()) {
      look(facts.dir());
    }
    return facts;
  }

  /** Whether its id is one of another pid namespace, and means nothing here. */
  private static boolean elsewhere(ProcessInfo process) {
    return process.liveness() != Liveness.LIVE;
  }

  private static ProcessFacts factsOf(Surroundings here, ProcessInfo process) {
    return elsewhere(process) ? null : ProcessFacts.of(here, process.pid());
  }

  // A place

  /**
   * Asks about the connections to a place.
   *
   * @throws IOException if the run-time directory cannot be listed
   */
  static Answer connect(Surroundings here, HostPort place) throws IOException {
    Inquiry inquiry = new Inquiry(here);
    List<InetAddress> addresses;
    try {
      addresses = List.of(InetAddress.getAllByName(place.host()));
    } catch (UnknownHostException e) {
      inquiry.findings.add(
          Finding.missing(
              "address",
              place.host() + " is not known on this host",
              "Check whether it is right."));
      return inquiry.answer("");
    }
    boolean local = addresses.stream().anyMatch(Inquiry::isHere);
    if (local) {
      inquiry.server(addresses, place.port());
    } else {
      inquiry.otherHost(addresses, place);
    }
    for (Owned one : List.copyOf(inquiry.all)) {
      if (one.connection.role() == Role.CLIENT
          && one.connection.remote() != null
          && fits(one.connection.remote(), addresses, place.port())) {
        inquiry.explain(one);
      }
    }
    if (local) {
      inquiry.clientsElsewhere(addresses, place.port());
    }
    return inquiry.answer(
        local
            ? "There is no connection to " + place + " now."
            : "No process with Talaria is connected to " + place + " now.");
  }

  private static boolean isHere(InetAddress address) {
    try {
      return address.isLoopbackAddress()
          || address.isAnyLocalAddress()
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return false;
    }
  }

  private static boolean fits(InetSocketAddress end, List<InetAddress> addresses, int port) {
    return end.getPort() == port
        && (end.getAddress().isAnyLocalAddress()
            || addresses.contains(end.getAddress())
            || addresses.stream().anyMatch(InetAddress::isAnyLocalAddress));
  }

  private void server(List<InetAddress> addresses, int port) throws IOException {
    TcpTable.Row row =
        table.rows().stream()
            .filter(one -> one.listens() && fits(one.local(), addresses, port))
            .findFirst()
            .orElse(null);
    Long pid = row == null ? null : table.owner(row);
    ProcessFacts facts = facts(pid);
    List<Owned> listeners =
        all.stream()
            .filter(one -> one.connection.role() == Role.LISTENER)
            .filter(one -> one.connection.local() != null)
            .filter(one -> fits(one.connection.local(), addresses, port))
            .filter(one -> pid == null || one.process.pid() == pid || elsewhere(one.process))
            .toList();
    if (!listeners.isEmpty()) {
      listeners.forEach(this::listener);
    } else if (row == null) {
      findings.add(
          Finding.missing(
              SERVER,
              "no process listens on port " + port + " in this network namespace",
              "Start the server, or ask inside its container or namespace."));
    } else if (facts == null) {
      findings.add(
          Finding.warn(
              SERVER,
              "the listener belongs to user "
                  + row.user()
                  + ", whose processes cannot be inspected",
              row.user() == ownUser()
                  ? "Ask as root, or inside its container."
                  : Reason.OTHER_USER.hint()));
    } else {
      List<Difference> found =
          Differences.between(new End("client", null, null), new End(SERVER, facts, infoOf(facts)));
      findings.add(
          found.isEmpty()
              ? Finding.warn(
                  SERVER,
                  facts
                      + " listens with Talaria, but this listener does not use it: it was created by"
                      + " java.net.ServerSocket without talaria.sockets, by an asynchronous"
                      + " channel, or by a native transport",
                  "Set talaria.sockets=true for java.net.ServerSocket; see docs/limits.md for the"
                      + " rest.")
              : Finding.warn(SERVER, texts(found), hints(found)));
    }
  }

  private long ownUser() {
    ProcessFacts own = ProcessFacts.of(here, ProcessHandle.current().pid());
    return own == null ? -1 : own.user();
  }

  private void listener(Owned listener) {
    Reason reason = listener.connection.reason();
    String found =
        name(listener.process) + " listens at " + Show.address(listener.connection.local());
    findings.add(
        reason == Reason.ANNOUNCED || reason == Reason.PENDING
            ? Finding.ok(
                SERVER,
                found
                    + ", "
                    + reason.code()
                    + " in "
                    + listener.process.file().getParent()
                    + ", Talaria "
                    + listener.process.talariaVersion())
            : Finding.missing(
                SERVER,
                found + ", not announced: " + reason.code() + ". " + reason.sentence(),
                missing(listener).isEmpty() ? reason.hint() : missing(listener)));
  }

  /** What the process itself says is missing for UCX, if that keeps a connection on TCP. */
  private static String missing(Owned one) {
    return one.connection.reason() == Reason.NO_UCX ? one.process.ucxUnavailableReason() : "";
  }

  private void otherHost(List<InetAddress> addresses, HostPort place) throws IOException {
    Path file = here.hosts().rules();
    if (file == null) {
      findings.add(
          Finding.warn(
              "address",
              place.host() + " is another host, or in another network namespace",
              Reason.NOT_LOCAL.hint()));
      return;
    }
    Finding judged = BetweenHostsChecks.rules(here);
    if (judged.status() != Status.OK) {
      findings.add(judged);
      return;
    }
    HostRules rules = HostRules.read(file);
    BetweenHostsChecks.resolve(rules);
    boolean named =
        addresses.stream()
            .anyMatch(address -> rules.connects(new InetSocketAddress(address, place.port())));
    findings.add(
        named
            ? Finding.ok("rules", file + " has a connect rule for " + place)
            : Finding.missing("rules", file + " has no rule for " + place, Reason.NO_RULE.hint()));
    findings.add(BetweenHostsChecks.key(here));
  }

  /** Connections to a place here whose client has no Talaria. */
  private void clientsElsewhere(List<InetAddress> addresses, int port) throws IOException {
    for (Owned one : List.copyOf(all)) {
      if (one.connection.role() == Role.ACCEPTED
          && one.connection.local() != null
          && fits(one.connection.local(), addresses, port)
          && other(one) == null) {
        explain(one);
      }
    }
  }

  // A process

  /**
   * Asks about the connections of a process.
   *
   * @throws IOException if a run-time directory cannot be listed
   */
  static Answer process(Surroundings here, long pid) throws IOException {
    Inquiry inquiry = new Inquiry(here);
    ProcessFacts found = inquiry.facts(pid);
    List<Owned> own = inquiry.all.stream().filter(one -> one.process.pid() == pid).toList();
    ProcessInfo info = inquiry.infoOf(pid, true);
    ProcessFacts facts = info != null && elsewhere(info) ? null : found;
    if (facts == null && info == null) {
      inquiry.findings.add(
          Finding.missing(
              "process", "there is no process " + pid + " here", "Look with talaria ss."));
      return inquiry.answer("");
    }
    inquiry.processItself(facts, info);
    if (own.isEmpty() && info != null && facts != null) {
      inquiry.socketsOfTheJdk(facts);
    }
    for (Owned one : own) {
      if (one.connection.role() == Role.LISTENER) {
        inquiry.listener(one);
      } else {
        inquiry.explain(one);
      }
    }
    return inquiry.answer(name(pid, facts, info) + " has no connection that Talaria knows of.");
  }

  private void processItself(ProcessFacts facts, ProcessInfo info) {
    if (info != null) {
      findings.add(
          Finding.ok(
              "process",
              name(info)
                  + ", Talaria "
                  + info.talariaVersion()
                  + " on Java "
                  + info.javaVersion()
                  + ", counters in "
                  + info.file().getParent()));
      return;
    }
    if (!facts.readable()) {
      findings.add(
          Finding.warn(
              "process",
              facts + " belongs to user " + facts.user() + " and cannot be inspected",
              "Ask as that user, or as root."));
      return;
    }
    List<Difference> found =
        Differences.between(new End("client", null, null), new End("process", facts, null));
    findings.add(Finding.missing("process", texts(found), hints(found)));
  }

  /** Says so if a process with Talaria has TCP sockets, and Talaria none of them. */
  private void socketsOfTheJdk(ProcessFacts facts) {
    List<TcpTable.Row> rows =
        table.rows().stream()
            .filter(row -> Long.valueOf(facts.pid()).equals(table.owner(row)))
            .toList();
    if (rows.isEmpty()) {
      return;
    }
    List<String> words = new ArrayList<>();
    rows.stream()
        .filter(TcpTable.Row::listens)
        .limit(MAX_NAMED)
        .forEach(row -> words.add("listens at " + Show.address(row.local())));
    long connections = rows.stream().filter(row -> !row.listens()).count();
    if (connections > 0) {
      words.add(connections + (connections == 1 ? " connection" : " connections"));
    }
    findings.add(
        Finding.warn(
            "sockets",
            "Talaria has none of its TCP sockets ("
                + String.join(", ", words)
                + "): they are made by java.net.Socket and ServerSocket"
                + (facts.property("talaria.sockets", "false").equals("true")
                    ? " of an implementation of their own"
                    : " without talaria.sockets")
                + ", by an asynchronous channel, or by a native transport",
            NOT_SEEN_HINT));
  }

  private ProcessInfo infoOf(ProcessFacts facts) {
    return infoOf(facts.pid(), false);
  }

  /** What a process says of itself, with connections or without. */
  private ProcessInfo infoOf(long pid, boolean anywhere) {
    ProcessInfo other = null;
    for (List<ProcessInfo> processes : looked.values()) {
      for (ProcessInfo process : processes) {
        if (process.pid() == pid && !elsewhere(process)) {
          return process;
        }
        if (process.pid() == pid) {
          other = process;
        }
      }
    }
    return anywhere ? other : null;
  }

  // A connection

  private void explain(Owned one) throws IOException {
    ConnectionInfo connection = one.connection;
    boolean client = connection.role() == Role.CLIENT;
    Owned other = other(one);
    List<Difference> differences = List.of();
    String peer = other == null ? "somebody" : name(other.process);
    if (connection.transport() != NioTransport.TCP || connection.reason() == Reason.PENDING) {
      accelerated++;
    } else {
      notAccelerated++;
      ProcessFacts peerFacts;
      ProcessInfo peerInfo;
      TcpTable.Row row =
          connection.remote() == null || connection.local() == null
              ? null
              : table.socketOf(connection.remote(), connection.local());
      if (other != null) {
        peerFacts = factsOf(here, other.process);
        peerInfo = other.process;
      } else {
        Long pid = row == null ? null : table.owner(row);
        peerFacts = facts(pid);
        peerInfo = peerFacts == null ? null : infoOf(peerFacts);
        if (peerFacts != null) {
          peer = name(peerFacts.pid(), peerFacts, peerInfo);
        }
      }
      End mine = new End(client ? "client" : SERVER, factsOf(here, one.process), one.process);
      End theirs = new End(client ? SERVER : "client", peerFacts, peerInfo);
      List<Difference> found = new ArrayList<>();
      if (!missing(one).isEmpty()) {
        found.add(new Difference(connection.reason().sentence(), missing(one)));
      }
      if (peerFacts == null
          && row != null
          && mine.facts() != null
          && row.user() != mine.facts().user()) {
        found.add(
            new Difference(
                "the "
                    + theirs.word()
                    + " runs as user "
                    + row.user()
                    + ", this as "
                    + mine.facts().user(),
                Reason.OTHER_USER.hint()));
      }
      found.addAll(client ? Differences.between(mine, theirs) : Differences.between(theirs, mine));
      if (found.isEmpty() && peerInfo != null && other(one) == null) {
        found.add(new Difference("at the " + theirs.word() + ": " + NOT_SEEN, NOT_SEEN_HINT));
      }
      if (found.isEmpty() && other != null && other.connection.reason() != connection.reason()) {
        Reason theirReason = other.connection.reason();
        found.add(
            new Difference(
                connection.reason().sentence()
                    + " The other end says "
                    + theirReason.code()
                    + ": "
                    + theirReason.sentence(),
                connection.reason() == Reason.REFUSED || theirReason == Reason.NOT_EARNED
                    ? theirReason.hint()
                    : connection.reason().hint()));
      }
      differences = List.copyOf(found);
    }
    Group group =
        new Group(
            client ? name(one.process) : peer,
            client ? peer : name(one.process),
            client ? connection.remote() : connection.local(),
            connection.transport(),
            connection.reason(),
            differences);
    groups.merge(group, 1, Integer::sum);
  }

  /** The same connection at its other end, or null. */
  private Owned other(Owned one) {
    return all.stream()
        .filter(
            each ->
                each.connection.local() != null
                    && each.connection.local().equals(one.connection.remote())
                    && each.connection.remote() != null
                    && each.connection.remote().equals(one.connection.local()))
        .findFirst()
        .orElse(null);
  }

  // What is said

  private Answer answer(String ifNone) {
    for (Map.Entry<Group, Integer> entry : groups.entrySet()) {
      findings.add(finding(entry.getKey(), entry.getValue()));
    }
    String verdict;
    if (accelerated + notAccelerated > 0) {
      verdict = accelerated + " accelerated, " + notAccelerated + " not accelerated.";
    } else {
      boolean amiss = findings.stream().anyMatch(finding -> finding.status() != Status.OK);
      verdict =
          ifNone.isEmpty() || amiss
              ? "A connection would stay on TCP."
              : ifNone
                  + " Both ends need the agent, one user, one network namespace, talaria.dir="
                  + here.dir()
                  + " and one talaria.shm.dir.";
    }
    return new Answer(List.copyOf(findings), accelerated, notAccelerated, verdict);
  }

  private static Finding finding(Group group, int count) {
    String found =
        group.client
            + " to "
            + Show.address(group.service)
            + ", "
            + group.server
            + (count == 1 ? "" : ", " + count + " times")
            + ": ";
    if (group.transport != NioTransport.TCP || group.reason == Reason.PENDING) {
      return Finding.ok(CONNECTION, found + group.transport.code() + ", " + group.reason.code());
    }
    found += "not accelerated, " + group.reason.code() + ". ";
    return group.differences.isEmpty()
        ? Finding.warn(CONNECTION, found + group.reason.sentence(), group.reason.hint())
        : Finding.warn(
            CONNECTION, found + sentence(texts(group.differences)), hints(group.differences));
  }

  private static String texts(List<Difference> differences) {
    return String.join("; ", differences.stream().map(Difference::text).toList());
  }

  private static String hints(List<Difference> differences) {
    return String.join(" ", differences.stream().map(Difference::hint).distinct().toList());
  }

  private static String sentence(String text) {
    String upper = text.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + text.substring(1);
    return upper.endsWith(".") ? upper : upper + ".";
  }

  private static String name(long pid, ProcessFacts facts, ProcessInfo info) {
    if (info != null) {
      return name(info);
    }
    return facts == null ? "pid " + pid : facts.toString();
  }

  private static String name(ProcessInfo process) {
    return "pid " + process.pid() + " (" + process.program() + ")";
  }
}
