// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import io.talaria.nio.Reason;
import io.talaria.nio.authentication.HostKey;
import io.talaria.nio.hosts.HostRules;
import io.talaria.nio.hosts.HostSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** What connections between hosts want: rules, key, rendezvous ports, UCX and its devices. */
public final class BetweenHostsChecks {
  private static final String RULES = "rules";
  private static final String KEY = "key";
  private static final String HINT_FOLLOWS = "; run: ";
  private static final long NAMES_LIMIT_NS = 5_000_000_000L;
  private static final int TRY_PAUSE_MS = 10;

  private BetweenHostsChecks() {}

  /** All of them if rules are named, else only that they are not. */
  public static List<Finding> all(Surroundings here) {
    List<Finding> findings = new ArrayList<>();
    findings.add(rules(here));
    if (here.hosts().rules() != null) {
      findings.add(key(here));
      findings.add(RendezvousCheck.ports(here));
      findings.add(HostChecks.lockedMemory(here));
      findings.add(transports(UcxInfo.transports(here)));
    }
    return findings;
  }

  public static Finding rules(Surroundings here) {
    Path file = here.hosts().rules();
    if (file == null) {
      return Finding.ok(
          RULES, "none named (--rules, talaria.rules): connections to other hosts stay on TCP");
    }
    HostRules rules;
    try {
      rules = HostRules.read(file);
    } catch (IOException e) {
      return Finding.missing(
          RULES,
          HostSettings.problem(e),
          "Mend it (docs/hosts.md has the syntax): until then all connections to other hosts stay"
              + " on TCP.");
    }
    if (rules.size() == 0) {
      return Finding.warn(
          RULES, file + " has none", "Write connect and bind lines as in docs/hosts.md.");
    }
    List<String> unknown = resolve(rules);
    return unknown.isEmpty()
        ? Finding.ok(RULES, file + ": " + rules.size())
        : Finding.warn(
            RULES,
            String.join("; ", unknown),
            "Check whether the name is right and can be looked up on this host, or write"
                + " addresses.");
  }

  /** Has the names of rules looked up, and waits for it. Returns what went wrong, a line each. */
  public static List<String> resolve(HostRules rules) {
    List<String> lines = new CopyOnWriteArrayList<>();
    rules.resolve(lines::add);
    long startNs = System.nanoTime();
    try {
      while (!rules.resolved()) {
        if (System.nanoTime() - startNs > NAMES_LIMIT_NS) {
          lines.add("looking the names up takes long");
          break;
        }
        Thread.sleep(TRY_PAUSE_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return List.copyOf(lines);
  }

  public static Finding key(Surroundings here) {
    Path file = here.hosts().key();
    if (file == null) {
      return Finding.missing(
          KEY,
          "none named (--key, talaria.key), and the rules are nothing without one",
          "Make one, (umask 077; head -c 32 /dev/urandom > FILE), and copy it to the other hosts.");
    }
    try {
      return Finding.ok(KEY, file + ": " + HostKey.read(file).length + " bytes, closed to others");
    } catch (IOException e) {
      String problem = HostSettings.problem(e);
      int hint = problem.indexOf(HINT_FOLLOWS);
      return hint < 0
          ? Finding.missing(
              KEY,
              problem,
              "It must be a file of this user or of root, mode 0600: (umask 077; head -c 32"
                  + " /dev/urandom > "
                  + file
                  + "), the same on all hosts.")
          : Finding.missing(
              KEY,
              problem.substring(0, hint),
              "Run: " + problem.substring(hint + HINT_FOLLOWS.length()));
    }
  }

  /**
   * Judges what UCX finds.
   *
   * @param found devices of each transport that leads to other hosts; null if UCX could not be
   *     asked
   */
  static Finding transports(Map<String, List<String>> found) {
    String name = "UCX transports";
    if (found == null) {
      return Finding.warn(
          name,
          "ucx_info, which lists them, is not installed",
          "Install it (Debian and Ubuntu: apt install ucx-utils), and run doctor again.");
    }
    List<String> words = new ArrayList<>();
    found.forEach((transport, devices) -> words.add(transport + " on " + devices));
    String text = "to other hosts: " + (words.isEmpty() ? "none" : String.join(", ", words));
    return found.keySet().stream().allMatch(transport -> transport.equals("tcp"))
        ? Finding.warn(
            name,
            text + "; connections stay on TCP (" + Reason.UCX_TCP_ONLY.code() + ")",
            Reason.UCX_TCP_ONLY.hint())
        : Finding.ok(name, text);
  }
}
