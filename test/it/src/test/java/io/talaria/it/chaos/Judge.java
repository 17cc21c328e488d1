// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import io.talaria.it.harness.Event;
import io.talaria.it.kit.Journal;
import io.talaria.it.kit.Traffic;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Says whether a connection has broken as one of TCP's breaks.
 *
 * <ul>
 *   <li>Only the death of the other process breaks a connection.
 *   <li>Reading ends with the end of the stream or with a reset, writing with a broken pipe or a
 *       reset.
 *   <li>What the dead process' writes had taken has arrived. TCP makes one exception: with bytes
 *       unread, the kernel resets the connection, and drops what it had not sent yet. So may a
 *       connection do that came to nothing but TCP.
 *   <li>If the dead process had read everything, the stream ends without a reset, and nothing is
 *       dropped.
 * </ul>
 *
 * <p>Confined to the test's thread.
 */
final class Judge {
  private static final String RESET = "(SocketException|IOException):Connection_reset(_by_peer)?";
  private static final String BROKEN_PIPE = "(SocketException|IOException):Broken_pipe";

  private final Findings findings;
  private final Map<String, Member> members = new HashMap<>();

  /** By the dead one's address, then by the two of the connection: ports come back. */
  private final Map<String, Map<Set<String>, List<Journal.Entry>>> journals = new HashMap<>();

  Judge(Findings findings) {
    this.findings = findings;
  }

  void joined(Member member) {
    members.put(member.address, member);
  }

  Member at(String address) {
    return members.get(address.substring(0, address.indexOf(':')));
  }

  /** A process is dead: keeps what its connections had come to. */
  void died(Member member) throws IOException {
    Map<Set<String>, List<Journal.Entry>> entries = new HashMap<>();
    List<Journal.Entry> read =
        Files.exists(member.journal) ? Journal.read(member.journal) : List.of();
    for (Journal.Entry entry : read) {
      entries
          .computeIfAbsent(
              Set.of(text(entry.client()), text(entry.server())), key -> new ArrayList<>())
          .add(entry);
    }
    journals.put(member.address, entries);
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /**
   * A connection has broken.
   *
   * @return what is wrong with that, or null
   */
  String broken(Member survivor, Event end) {
    Member other = at(end.text("remote"));
    String in = end.text("in");
    String out = end.text("out");
    String all = survivor + ", peer " + other + ": " + end.values();
    if (!other.killed) {
      findings.wrongEnds++;
      return "a connection between two living processes has broken: " + all;
    }
    boolean cut = in.equals(Traffic.CUT);
    if (!cut && !in.equals(Traffic.COMPLETE) && !in.matches(RESET)) {
      findings.wrongEnds++;
      return "no such end of reading: " + all;
    }
    if (!out.equals(Traffic.COMPLETE) && !out.matches(RESET + "|" + BROKEN_PIPE)) {
      findings.wrongEnds++;
      return "no such end of writing: " + all;
    }
    String wrong = compare(other, end, in.matches(RESET), out.matches(RESET));
    if (wrong != null) {
      return wrong + ": " + all;
    }
    findings.brokenEnds++;
    return null;
  }

  private String compare(Member dead, Event end, boolean readReset, boolean writeReset) {
    List<Journal.Entry> entries =
        journals
            .get(dead.address)
            .getOrDefault(Set.of(end.text("local"), end.text("remote")), List.of());
    int nth = (int) end.number("nth");
    if (entries.size() < nth) {
      return null; // it had not accepted the connection yet
    }
    Journal.Entry entry = entries.get(nth - 1);
    findings.checkedAgainstJournals++;
    boolean readAll = entry.receivedBytes() == end.number("sent");
    long missing = entry.sentBytes() - end.number("received");
    // The kernel tells of a reset once: to the next read or to the next write.
    if (missing > 0 && !readAll && (readReset || writeReset) && end.number("transport") == 0) {
      findings.resetBytes += missing;
    } else if (missing > 0) {
      findings.lostBytes += missing;
      return missing + " bytes lost, " + entry;
    }
    if (readReset && readAll) {
      findings.wrongEnds++;
      return "a reset though the dead had read everything, " + entry;
    }
    return null;
  }
}
