// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Restless;
import io.talaria.it.stress.StressNode;
import io.talaria.nio.NioTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Runs one program that was generated at random: every request is answered, every end is noticed,
 * and nobody sees an end that nobody made. Confined to the test's thread.
 */
final class Stress {
  private static final Duration SETTLE = Duration.ofSeconds(60);
  private static final Duration BY_ITSELF = Duration.ofSeconds(3);
  private static final Duration ONCE_WOKEN = Duration.ofSeconds(2);
  private static final int NAME_BITS = 32;
  private static final long SECOND = 1_000_000_000L;

  /** What a process says whose queue in UCX's shared memory is blocked, and how long that takes. */
  private static final String BLOCKED = "has blocked a queue of UCX's shared memory";

  private static final long FOUND_NS = 10 * SECOND;

  private final Lab lab;
  private final StressPlan plan;
  private final Random chance;
  private final List<Child> living = new ArrayList<>();
  private final List<Child> neighbours = new ArrayList<>();
  private final Map<Child, Integer> ports = new HashMap<>();
  private final Map<Child, Integer> names = new HashMap<>();
  private final Set<Integer> deadPorts = new HashSet<>();
  private final Set<Integer> deadNames = new HashSet<>();
  private final Map<String, Long> totals = new TreeMap<>();
  private long acceleratedBytes;
  private int started;

  /** The name of the process that asks, if only one does. */
  private int asker;

  /**
   * Generates a program.
   *
   * @param lab where its processes live
   * @param seed what it is like
   * @param plain whether the processes use the JDK's sockets: shows that the test is right
   */
  Stress(Lab lab, long seed, boolean plain) {
    this.lab = lab;
    this.plan = StressPlan.of(seed, plain);
    this.chance = new Random(seed);
  }

  /**
   * Runs it.
   *
   * @param duration how long, without its start and its end
   * @return bytes that did not travel by TCP
   * @throws Exception if anything is not as it should be, with the seed
   */
  long run(Duration duration) throws Exception {
    System.out.println("stress: " + plan);
    for (int i = 0; i < plan.restless(); i++) {
      neighbours.add(lab.child(Flavour.PLAIN, Restless.class).start());
    }
    for (Flavour flavour : plan.processes()) {
      start(flavour);
    }
    for (Child child : living) {
      ports.put(child, child.await("ready").port());
    }
    tellPeers();
    disturb(System.nanoTime() + duration.toNanos());
    finish();
    lab.stop(neighbours.toArray(new Child[0]));
    System.out.println(
        "stress: seed "
            + plan.seed()
            + " passed, "
            + acceleratedBytes
            + " bytes by transport, "
            + totals);
    return acceleratedBytes;
  }

  /**
   * Whether a process that was killed inside a write has blocked a queue of UCX's, as it may
   * (docs/nio-ucx.md): then a process has found out, or does so in its time.
   */
  boolean queueBlocked() throws InterruptedException {
    if (!plan.kills() || deadNames.isEmpty() || Settings.fast() != NioTransport.UCX) {
      return false;
    }
    long startNs = System.nanoTime();
    while (System.nanoTime() - startNs < FOUND_NS) {
      if (living.stream().anyMatch(child -> child.errorText().contains(BLOCKED))) {
        return true;
      }
      Thread.sleep(100);
    }
    return false;
  }

  /** Ends what a failure has left running. */
  void kill() throws InterruptedException {
    for (Child child : living) {
      child.kill();
    }
    for (Child child : neighbours) {
      child.kill();
    }
  }

  private Child start(Flavour flavour) throws IOException {
    int name = ++started;
    Child child =
        lab.child(flavour, StressNode.class)
            .property("talaria.spin.ns", plan.spin().isEmpty() ? null : plan.spin())
            .arg("name", name)
            .arg("seed", chance.nextLong())
            .arg("selectors", plan.selectors())
            .arg("workers", plan.workers())
            .arg("connections", plan.quiet() && asking() ? 0 : plan.connections())
            .arg("quiet", plan.quiet() ? "yes" : "no")
            .arg("actors", plan.actors())
            .arg("actUs", plan.actUs())
            .arg("restUs", plan.restUs())
            .arg("bytes", plan.bytes())
            .arg("ledger", ledger(name))
            .start();
    if (!asking()) {
      asker = name;
    }
    names.put(child, name);
    living.add(child);
    return child;
  }

  /** Whether a process that asks is there already. */
  private boolean asking() {
    return living.stream().anyMatch(child -> names.get(child) == asker);
  }

  private Path ledger(int name) {
    return lab.scratch().resolve("ledger-" + plan.seed() + "-" + name);
  }

  private void tellPeers() throws IOException {
    String all =
        living.stream()
            .filter(ports::containsKey)
            .map(child -> " " + ports.get(child))
            .collect(Collectors.joining());
    for (Child child : living) {
      if (ports.containsKey(child)) {
        child.send("peers" + all);
      }
    }
  }

  private void disturb(long endNs) throws Exception {
    long killNs = plan.kills() ? nextKillNs() : Long.MAX_VALUE;
    while (System.nanoTime() < endNs) {
      if (System.nanoTime() > killNs) {
        kill(living.get(chance.nextInt(living.size())));
        killNs = nextKillNs();
      }
      turn();
    }
  }

  private long nextKillNs() {
    return System.nanoTime() + SECOND + (long) (chance.nextDouble() * 3 * SECOND);
  }

  private void kill(Child victim) throws Exception {
    victim.kill();
    living.remove(victim);
    deadNames.add(names.get(victim));
    deadPorts.add(ports.get(victim));
    Child next = start(victim.flavour());
    tellPeers();
    ports.put(next, next.await("ready").port());
    tellPeers();
  }

  private void turn() throws Exception {
    for (Child child : living) {
      Event late = child.poll("late");
      if (late != null) {
        fail(child, late);
      }
      if (!child.alive()) {
        child.awaitAnyExit();
        throw new AssertionError(
            "seed " + plan.seed() + ": " + child + " has ended:\n" + child.errorText());
      }
    }
  }

  // ---- something is late

  private void fail(Child child, Event late) throws Exception {
    Path file = lab.report("stress-" + plan.seed() + ".txt");
    String state = state();
    String verdict = verdict(child);
    String head =
        "seed " + plan.seed() + ": " + child + " " + late.values() + "\n" + verdict + "\n" + plan;
    Files.writeString(file, head + "\n" + state);
    throw new AssertionError(head + "\nstacks and connections: " + file);
  }

  private String state() throws IOException {
    StringBuilder text = new StringBuilder();
    for (Child child : living) {
      text.append(child.dump()).append(Transports.describe(Transports.of(child))).append('\n');
    }
    return text.toString();
  }

  /** Tells slowness from a lost wake-up, and where that sleeps who would have needed it. */
  private String verdict(Child child) throws Exception {
    if (recovers(child, BY_ITSELF)) {
      return "SLOW: it went on by itself";
    }
    for (Child each : living) {
      each.send("wake");
      if (recovers(child, ONCE_WOKEN)) {
        return "LOST WAKE-UP: it went on once the selectors of " + each + " were woken";
      }
    }
    return "STUCK: no progress, whichever thread was woken";
  }

  private static boolean recovers(Child child, Duration limit) throws InterruptedException {
    long endNs = System.nanoTime() + limit.toNanos();
    while (System.nanoTime() < endNs) {
      if (child.poll("recovered") != null) {
        return true;
      }
    }
    return false;
  }

  // ---- the end

  private void finish() throws Exception {
    turn();
    for (Child child : living) {
      acceleratedBytes += Transports.acceleratedInBytes(child);
      child.send("stop");
    }
    Set<Child> stopped = new HashSet<>();
    long deadlineNs = System.nanoTime() + SETTLE.toNanos();
    while (stopped.size() < living.size()) {
      turn();
      for (Child child : living) {
        Event event = stopped.contains(child) ? null : child.poll("stopped");
        if (event != null) {
          stopped.add(child);
          event.values().forEach((key, value) -> add(key, Long.parseLong(value)));
        }
      }
      if (System.nanoTime() > deadlineNs) {
        throw new AssertionError("seed " + plan.seed() + ": not stopped; " + state());
      }
    }
    compareLedgers();
    lab.stop(living.toArray(new Child[0]));
  }

  private void add(String key, long value) {
    totals.merge(key, value, key.equals("slowestMs") ? Math::max : Long::sum);
  }

  /** What one has seen end, another has ended, or it was killed. */
  private void compareLedgers() throws IOException {
    Set<String> ended = new HashSet<>();
    List<String[]> seen = new ArrayList<>();
    for (Child child : living) {
      for (String line : Files.readAllLines(ledger(names.get(child)))) {
        String[] words = line.split(" ", 4);
        if (words[0].equals("ended")) {
          ended.add(words[1]);
        } else {
          seen.add(words);
        }
      }
    }
    for (String[] words : seen) {
      int name = (int) (Long.parseLong(words[1], 16) >>> NAME_BITS);
      if (!ended.contains(words[1])
          && !deadNames.contains(name)
          && !deadPorts.contains(Integer.parseInt(words[2]))) {
        throw new AssertionError(
            "seed "
                + plan.seed()
                + ": a connection ended that nobody had ended: "
                + List.of(words)
                + "; "
                + plan);
      }
    }
  }
}
