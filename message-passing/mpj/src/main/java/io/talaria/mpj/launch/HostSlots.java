// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A host that the user named.
 *
 * @param name as given
 * @param slots how many ranks it may take
 */
record HostSlots(String name, int slots) {
  /** No word that a shell command could take for an option; IPv6 addresses stand in brackets. */
  private static final Pattern HOST =
      Pattern.compile(
          "((?:[A-Za-z0-9_.][A-Za-z0-9_.-]*@)?"
              + "(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\\[[0-9A-Fa-f:.%a-z]+\\]))"
              + "(?:(?::|\\s+slots\\s*=\\s*)([0-9]{1,4}))?");

  /** Reads {@code h1:2,h2}. */
  static void readList(String option, String list, List<HostSlots> into) throws UsageException {
    for (String word : list.split(",", -1)) {
      if (!add(word.trim(), into)) {
        throw new UsageException(option + " needs hosts such as node1:4,node2:4, not " + list);
      }
    }
  }

  /** Reads a file, a host a line. */
  static void readFile(String file, List<HostSlots> into) throws UsageException {
    List<String> lines;
    try {
      lines = Files.readAllLines(Path.of(file));
    } catch (IOException | RuntimeException e) {
      throw new UsageException("-hostfile " + file + " cannot be read: " + e.getMessage());
    }
    int before = into.size();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceFirst("#.*", "").trim();
      if (!line.isEmpty() && !add(line, into)) {
        throw new UsageException(
            file + ", line " + (i + 1) + ": a host such as «node1 slots=4», not «" + line + "»");
      }
    }
    if (into.size() == before && into.isEmpty()) {
      throw new UsageException("-hostfile " + file + " names no host");
    }
  }

  private static boolean add(String text, List<HostSlots> into) {
    Matcher parts = HOST.matcher(text);
    if (!parts.matches()) {
      return false;
    }
    int slots = parts.group(2) == null ? 1 : Integer.parseInt(parts.group(2));
    if (slots == 0) {
      return false;
    }
    String name = parts.group(1);
    for (int i = 0; i < into.size(); i++) {
      if (into.get(i).name().equals(name)) {
        into.set(i, new HostSlots(name, into.get(i).slots() + slots));
        return true;
      }
    }
    into.add(new HostSlots(name, slots));
    return true;
  }

  /** Whether it is where the launcher runs, by its name: then no agent is needed. */
  boolean isThisHost() {
    if (name.equals("localhost") || name.equals("127.0.0.1") || name.equals("[::1]")) {
      return true;
    }
    try {
      return name.equals(InetAddress.getLocalHost().getHostName());
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
