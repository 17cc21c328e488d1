// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a storm counts. Confined to the test's thread. */
final class Findings {
  long movedBytes;
  long acceleratedBytes;
  long connected;
  long completeEnds;
  long refused;
  long starved;
  long kills;
  long stops;
  long fills;
  long famines;
  long brokenEnds;
  long checkedAgainstJournals;
  long resetBytes;
  long lostBytes;
  long corrupted;
  long wrongEnds;
  long hangs;
  long leakedDescriptors;
  long leakedMappings;
  long filesLeft;
  String fillsNote = "";

  /** Adds what a process has told of itself. */
  void add(Member member) {
    movedBytes += member.number("received");
    acceleratedBytes += member.number("transport");
    connected += member.number("connected");
    completeEnds += member.number("complete");
    refused += member.number("refused");
    starved += member.number("starved");
  }

  boolean clean() {
    return lostBytes
            + corrupted
            + wrongEnds
            + hangs
            + leakedDescriptors
            + leakedMappings
            + filesLeft
        == 0;
  }

  /** The table at the end. */
  String table() {
    Map<String, Object> rows = new LinkedHashMap<>();
    rows.put("bytes moved and checked", movedBytes);
    rows.put("  through shared memory (of connections that ended)", acceleratedBytes);
    rows.put("connections made", connected);
    rows.put("  refused, by a dead or dying peer", refused);
    rows.put("  calls that found no descriptor", starved);
    rows.put("ends, proper (two a connection)", completeEnds);
    rows.put("kills survived", kills);
    rows.put("stops", stops);
    rows.put("shared memory filled" + fillsNote, fills);
    rows.put("descriptor famines", famines);
    rows.put("ends, broken as TCP would", brokenEnds);
    rows.put("  compared with the journal of the killed", checkedAgainstJournals);
    rows.put("  bytes that a reset took before the switch, as TCP's does", resetBytes);
    rows.put("ends that TCP would not give", wrongEnds);
    rows.put("hangs", hangs);
    rows.put("bytes lost", lostBytes);
    rows.put("bytes corrupted, moved or foreign (processes that saw some)", corrupted);
    rows.put("descriptors leaked", leakedDescriptors);
    rows.put("mappings leaked", leakedMappings);
    rows.put("files left", filesLeft);
    StringBuilder table = new StringBuilder();
    rows.forEach(
        (name, value) -> table.append(String.format("  %-62s %,18d%n", name, (Long) value)));
    return table.toString();
  }
}
