// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import io.talaria.it.harness.Announced;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Tmpfs;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.ChaosNode;
import io.talaria.nio.counters.file.ProcessTotals;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Several processes keep connections to each other while some of them are killed and started again,
 * stopped and continued, shared memory is filled and freed, and descriptors run out. Two of them
 * (one on Java 17, if there is one) live from the beginning to the end and must come out as they
 * went in. Confined to the test's thread.
 *
 * <p>What happens and when it is due depends on the seed alone; what it meets does not.
 */
public final class Storm {
  /** A connection may stand still for so long without an excuse, on a busy machine. */
  private static final Duration HANG = Duration.ofSeconds(40);

  private static final long SECOND = 1_000_000_000L;
  private static final int DESCRIPTORS = 512;
  private static final int SPARE_DESCRIPTORS = 2;

  /** Of a member; each may have leased a doorbell, and doorbells are kept. */
  private static final int SELECTORS = 2;

  private static final String MEMORY = "size=256m,mode=700";

  private final Lab lab;
  private final ChaosPlan plan;
  private final Random chance;
  private final Findings findings = new Findings();
  private final Judge judge = new Judge(findings);
  private final List<Flavour> seats = new ArrayList<>();
  private final List<Member> living = new ArrayList<>();
  private final PriorityQueue<Due> agenda = new PriorityQueue<>();
  private int lasting = 1;
  private int addresses;
  private long order;
  private Path shmDir;
  private Ballast ballast;
  private long startNs;
  private long lookedNs;

  /** Something to happen at a time; things of one time in the order of their making. */
  private record Due(long atNs, long order, Step step) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      int byTime = Long.compare(atNs, other.atNs);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  /**
   * Makes a storm.
   *
   * @param lab where its processes live
   * @param plan what it is to be like
   */
  public Storm(Lab lab, ChaosPlan plan) {
    this.lab = lab;
    this.plan = plan;
    this.chance = new Random(plan.seed());
  }

  /**
   * Lets it rage, and judges.
   *
   * @throws Exception if anything is not as it should be: with the table of what was found
   */
  public void rage() throws Exception {
    say("chaos: " + plan);
    boolean over = false;
    try {
      prepare();
      rageUntil(startNs + plan.duration().toNanos());
      calm();
      reckon();
      over = true;
    } finally {
      continueAll();
      living.forEach(findings::add);
      say(
          "\nchaos: "
              + plan
              + (over && findings.clean() ? ", all well" : ", FAILED")
              + "\n"
              + findings.table());
    }
    if (!findings.clean()) {
      throw new AssertionError("see the table");
    }
  }

  private static void say(String text) {
    System.out.println(text);
  }

  // ---- the beginning

  private void prepare() throws Exception {
    boolean old = Settings.java17().isPresent();
    Flavour now = plan.plain() ? Flavour.PLAIN : Flavour.TALARIA;
    Flavour then = plan.plain() ? Flavour.PLAIN_17 : Flavour.TALARIA_17;
    now.assume();
    seats.add(now);
    if (old) {
      seats.add(then);
      lasting = 2;
    }
    seats.addAll(List.of(now, old ? then : now, now));
    if (Proc.root()) {
      Path mounted = Tmpfs.mount(lab, MEMORY);
      shmDir = mounted.resolve("shm");
      ballast = new Ballast(mounted.resolve("ballast"));
      lab.afterwards(ballast::drop); // before it is unmounted
    } else {
      shmDir = lab.shmDir();
      findings.fillsNote = " (never: needs root)";
    }
    lab.expectLeftovers();
    for (int seat = 0; seat < seats.size(); seat++) {
      start(seat);
    }
    for (Member member : living) {
      member.ready(member.child.await("ready"));
      if (!plan.plain()) {
        for (int port : member.ports()) {
          Announced.await(lab.talariaDir(), port);
        }
      }
      member.baseDescriptors = Proc.descriptorsButDoorbells(member.child);
    }
    tellPeers();
    startNs = System.nanoTime();
    lookedNs = startNs;
    in(1.0, 3.0, this::kill);
    in(0.5, 3.0, this::stop);
    in(1.0, 6.0, this::starve);
    if (ballast != null) {
      in(2.0, 6.0, this::fill);
    }
  }

  private void start(int seat) throws IOException {
    int number = ++addresses;
    String address = "127.77." + (number >> 8) + "." + (number & 255);
    Path journal = lab.scratch().resolve("journal-" + number);
    int each = Math.max(2, plan.connections() / seats.size());
    Child child =
        lab.child(seats.get(seat), ChaosNode.class)
            .under("sh", "-c", "ulimit -n " + (DESCRIPTORS + 4 * each) + "; exec \"$0\" \"$@\"")
            .property("talaria.shm.dir", shmDir)
            .arg("bind", address)
            .arg("journal", journal)
            .arg("connections", each)
            .arg("seed", chance.nextLong())
            .arg("max", 16 << 20)
            .arg("chunk", 64 << 10)
            .arg("end", "random")
            .arg("pauseEvery", 20)
            .arg("pauseUs", 5_000)
            .start();
    Member member = new Member(seat, seat < lasting, address, journal, child);
    judge.joined(member);
    living.add(member);
  }

  private void tellPeers() throws IOException {
    for (Member member : living) {
      if (member.ready()) {
        String others =
            living.stream()
                .filter(other -> other != member && other.ready())
                .flatMap(
                    other -> other.ports().stream().map(port -> " " + other.address + ":" + port))
                .collect(Collectors.joining());
        member.tell("peers" + others);
      }
    }
  }

  // ---- what happens

  /** Puts something on the agenda, between so many seconds from now. */
  private void in(double least, double most, Step step) {
    long delayNs = (long) ((least + chance.nextDouble() * (most - least)) * SECOND);
    agenda.add(new Due(System.nanoTime() + delayNs, ++order, step));
  }

  private Member some(List<Member> candidates) {
    return candidates.isEmpty() ? null : candidates.get(chance.nextInt(candidates.size()));
  }

  private void kill() throws Exception {
    Member member = some(living.stream().filter(m -> !m.lasting).toList());
    if (member != null) {
      // Before it happens: what comes of it may be heard at once.
      member.killed = true;
      member.child.kill();
      findings.kills++;
      findings.add(member);
      judge.died(member);
      living.remove(member);
      tellPeers();
      in(0.0, 2.0, () -> start(member.seat));
    }
    in(1.0, 6.0, this::kill);
  }

  private void stop() throws Exception {
    Member member = some(living.stream().filter(m -> !m.stopped).toList());
    if (member != null) {
      signal(member, "STOP");
      member.stopped = true;
      findings.stops++;
      double seconds = chance.nextInt(3) == 0 ? 6 : 1;
      long fromNs = System.nanoTime();
      in(
          0.05,
          seconds,
          () -> {
            if (!member.killed) {
              signal(member, "CONT");
            }
            member.stopped = false;
            member.disturbed(fromNs, System.nanoTime());
          });
    }
    in(0.5, 5.0, this::stop);
  }

  private static void signal(Member member, String name) throws Exception {
    Proc.run("kill", "-" + name, Long.toString(member.child.pid()));
  }

  private void continueAll() {
    for (Member member : living) {
      if (member.stopped) {
        try {
          signal(member, "CONT");
        } catch (Exception e) {
          say(member + " is gone: " + e);
        }
      }
    }
  }

  private void starve() throws Exception {
    Member member = some(living.stream().filter(m -> m.ready() && !m.stopped).toList());
    if (member != null) {
      long ms = 300L + chance.nextInt(2700);
      member.tell("starve " + ms);
      findings.famines++;
      long now = System.nanoTime();
      member.disturbed(now, now + ms * 1_000_000L);
    }
    in(3.0, 10.0, this::starve);
  }

  private void fill() throws Exception {
    ballast.take();
    findings.fills++;
    in(
        0.5,
        4.0,
        () -> {
          ballast.drop();
          in(3.0, 10.0, this::fill);
        });
  }

  // ---- the course of things

  private void rageUntil(long endNs) throws Exception {
    long nextWordNs = startNs;
    while (System.nanoTime() < endNs) {
      while (!agenda.isEmpty() && agenda.peek().atNs() <= System.nanoTime()) {
        agenda.poll().step().run();
      }
      if (ballast != null && ballast.aboard()) {
        ballast.take();
      }
      turn();
      if (System.nanoTime() >= nextWordNs) {
        nextWordNs = System.nanoTime() + 5 * SECOND;
        progress();
      }
    }
  }

  /** Hears what the processes have to say. */
  private void turn() throws Exception {
    for (Member member : List.copyOf(living)) {
      hear(member);
    }
  }

  /** Who has not looked for so long has stood still, and not he alone: the machine, or all JVMs. */
  private void look() {
    long now = System.nanoTime();
    if (now - lookedNs > 2 * SECOND) {
      for (Member member : living) {
        member.disturbed(lookedNs, now + SECOND);
      }
    }
    lookedNs = now;
  }

  private void hear(Member member) throws Exception {
    for (Event end = member.child.poll("broken"); end != null; end = member.child.poll("broken")) {
      String wrong = judge.broken(member, end);
      if (wrong != null) {
        throw new AssertionError(wrong);
      }
    }
    if (!member.ready()) {
      Event ready = member.child.poll("ready");
      if (ready != null) {
        member.ready(ready);
        tellPeers();
      }
    }
    for (Event one = member.child.poll("status"); one != null; one = member.child.poll("status")) {
      member.heard(one);
    }
    look();
    checkMoving(member);
    if (!member.child.alive()) {
      findings.corrupted++;
      member.child.awaitAnyExit();
      throw new AssertionError(member + " has ended by itself:\n" + member.child.errorText());
    }
    long silentNs = System.nanoTime() - member.heardNs();
    if (!member.stopped
        && silentNs - member.disturbedNs(member.heardNs(), System.nanoTime()) > HANG.toNanos()) {
      findings.hangs++;
      throw new AssertionError(member + " has said nothing for " + silentNs / SECOND + " s");
    }
  }

  /**
   * What a process has written may lie in the kernel for long while a slow peer reads it, so a
   * connection hangs only if it stands still at both ends; or for much longer at one, whose peer
   * may not know it any more.
   */
  private void checkMoving(Member member) {
    long idleNs = member.number("idleMs") * 1_000_000L;
    if (idleNs < HANG.toNanos()) {
      return;
    }
    String idle = member.status.text("idle");
    Member other = judge.at(idle.substring(idle.indexOf('-') + 1));
    long now = member.status.nanoTime();
    long excusedNs = member.disturbedNs(now - idleNs, now) + other.disturbedNs(now - idleNs, now);
    boolean movesThere = !other.killed && other.number("idleMs") * 1_000_000L < HANG.toNanos() / 2;
    long limitNs = movesThere ? 4 * HANG.toNanos() : HANG.toNanos();
    if (idleNs - excusedNs > limitNs && !other.stopped) {
      findings.hangs++;
      throw new AssertionError(
          member
              + " has a connection that has stood still for "
              + idleNs / SECOND
              + " s: "
              + idle
              + "; its peer is "
              + other
              + (other.killed ? ", killed" : ""));
    }
  }

  private void progress() {
    long moved = findings.movedBytes;
    long connected = findings.connected;
    long open = 0;
    for (Member member : living) {
      moved += member.number("received");
      connected += member.number("connected");
      open += member.number("open");
    }
    say(
        String.format(
            "%5d s  %,9.1f MB  %,7d connections, %3d ends open  %d kills, %d stops, %d fills,"
                + " %d famines, %d ends broken",
            (System.nanoTime() - startNs) / SECOND,
            moved / 1e6,
            connected,
            open,
            findings.kills,
            findings.stops,
            findings.fills,
            findings.famines,
            findings.brokenEnds));
  }

  // ---- the end

  /** Everything is given back, and every connection comes to its end. */
  private void calm() throws Exception {
    agenda.clear();
    for (Member member : living) {
      if (member.stopped) {
        signal(member, "CONT");
        member.stopped = false;
        member.disturbed(startNs, System.nanoTime());
      }
    }
    if (ballast != null) {
      ballast.drop();
    }
    while (living.stream().anyMatch(member -> !member.ready())) {
      turn();
    }
    for (Member member : living) {
      member.tell("peers");
    }
    for (int quiet = 0; quiet < 3; ) {
      living.forEach(member -> member.statuses = 0);
      while (living.stream().anyMatch(member -> member.statuses == 0)) {
        turn();
      }
      quiet = living.stream().allMatch(member -> member.number("open") == 0) ? quiet + 1 : 0;
    }
    progress();
    for (Member member : living) {
      if (!plan.plain()) {
        say(member + ": " + upgrades(Transports.totals(member.child)));
      }
    }
  }

  private static String upgrades(ProcessTotals totals) {
    return String.format(
        "%d upgrades, %d offered, not come about: %s",
        totals.acceptedByPeer() + totals.acceptedByUs(),
        totals.offersMade() + totals.offersReceived(),
        totals.refused());
  }

  /** One of the lasting ones stays alone, and must be as it was at the beginning. */
  private void reckon() throws Exception {
    Member keeper = living.stream().filter(m -> m.seat == plan.seed() % lasting).findFirst().get();
    for (Member member : living) {
      if (member != keeper) {
        member.child.stop();
      }
    }
    int limit = keeper.baseDescriptors + SPARE_DESCRIPTORS;
    int descriptors = atMost(limit, () -> Proc.descriptorsButDoorbells(keeper.child));
    int doorbells = atMost(SELECTORS, () -> Proc.doorbells(keeper.child));
    findings.leakedDescriptors =
        Math.max(0, descriptors - limit) + 2L * Math.max(0, doorbells - SELECTORS);
    findings.leakedMappings =
        atMost(
            0,
            () -> {
              Proc.collectGarbage(keeper.child);
              return Proc.mappings(keeper.child, shmDir);
            });
    findings.filesLeft = atMost(0, () -> Leftovers.of(lab.talariaDir(), shmDir).size());
    say(
        String.format(
            "%s: %d descriptors, %d at the start, and %d doorbells; %d mappings of shared memory; files"
                + " of the dead: %s",
            keeper,
            descriptors,
            keeper.baseDescriptors,
            doorbells,
            findings.leakedMappings,
            Leftovers.of(lab.talariaDir(), shmDir)));
    if (findings.leakedMappings > 0) {
      Proc.mapped(keeper.child, shmDir).forEach(Storm::say);
      Proc.ownObjects(keeper.child).forEach(Storm::say);
    }
    keeper.child.stop();
    findings.filesLeft += Leftovers.of(lab.talariaDir(), shmDir).size();
  }

  private interface Count {
    int get() throws Exception;
  }

  private static int atMost(int limit, Count count) throws Exception {
    long deadlineNs = System.nanoTime() + 15 * SECOND;
    while (count.get() > limit && System.nanoTime() < deadlineNs) {
      Thread.sleep(100);
    }
    return count.get();
  }
}
