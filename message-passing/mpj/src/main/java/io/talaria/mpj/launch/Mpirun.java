// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.engine.Settings;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The launcher: {@code talaria mpirun}. Has a process started for each rank, here or by agents on
 * other hosts, passes their output on, and ends the job as soon as one fails.
 */
public final class Mpirun {
  private static final int STATUS_USAGE = 2;
  private static final int STATUS_TIMEOUT = 124;
  private static final int MAX_SIGNAL = 64;
  private static final long LAST_WORDS_MS = 10;
  private static final int LAST_WORDS_LOOKS = 50;
  private static final long START_LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

  /** What has happened, in the order of coming; a reason is there if it ends the job. */
  private record Event(int rank, int status, String why) {}

  /** How far a rank has come. Guarded by {@link #ranks}. */
  private static final class Rank {
    private long pid;
    private boolean init;
    private boolean atTheEnd;
    private boolean finalized;
    private boolean ended;
    private String rankAddress;
  }

  private final Options options;
  private final int[] hostOfRank;
  private final List<Host> hosts = new CopyOnWriteArrayList<>();
  private final Rank[] ranks;
  private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();

  /** What ranks are told of each other's ends; null if the first of these ends the job. */
  private final Survivors survivors;

  private int rankAddresses;

  /** Whether all has ended, or a signal has ended the launcher: what ranks do then is no news. */
  private volatile boolean over;

  private volatile boolean ending;
  private long firstInitNs;
  private boolean anyInit;

  private Mpirun(Options options) {
    this.options = options;
    hostOfRank = options.hostOfRank();
    ranks = new Rank[options.ranks];
    Arrays.setAll(ranks, i -> new Rank());
    survivors = options.continues ? new Survivors(options.ranks, this::tell) : null;
    if (options.continues) {
      options.environment.put(RankMain.NOTIFY, "1");
    }
  }

  /**
   * Runs the command and exits with its status.
   *
   * @param args the words after {@code talaria mpirun}
   */
  public static void main(String[] args) {
    System.exit(run(args));
  }

  private static int run(String[] args) {
    Options options;
    try {
      options = Options.parse(args);
    } catch (UsageException e) {
      System.err.println("talaria mpirun: " + e.getMessage());
      return STATUS_USAGE;
    }
    if (options == null) {
      System.out.print(Options.HELP);
      return 0;
    }
    try {
      checkProperties(options);
    } catch (IllegalArgumentException e) {
      System.err.println("talaria mpirun: " + e.getMessage());
      return Settings.STATUS_CONFIG;
    }
    Mpirun job = new Mpirun(options);
    try {
      return job.launch();
    } catch (IOException e) {
      System.err.println("talaria mpirun: " + e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    } finally {
      job.over = true;
    }
  }

  /** The ranks would say the same, each. */
  private static void checkProperties(Options options) {
    io.talaria.mpj.collective.Choice.check(Settings.ofOptions(options.jvmOptions).algorithms());
  }

  private int launch() throws IOException, InterruptedException {
    byte[] secret = new byte[32];
    new SecureRandom().nextBytes(secret);
    String hex = HexFormat.of().formatHex(secret);
    Runtime.getRuntime().addShutdownHook(new Thread(this::sweep, "talaria-mpj-sweep"));
    int count = Math.max(1, options.hosts.size());
    for (int i = 0; i < count; i++) {
      int host = i;
      if (Arrays.stream(hostOfRank).anyMatch(of -> of == host)) {
        hosts.add(host(plan(host, hex)));
      }
    }
    for (Host host : hosts) {
      host.start();
    }
    int status = watch();
    for (Host host : hosts) {
      host.stop();
    }
    for (Host host : hosts) {
      host.awaitEnd(Long.MAX_VALUE);
    }
    return status;
  }

  private Plan plan(int host, String secret) {
    String name = options.hosts.isEmpty() ? "" : options.hosts.get(host).name();
    Path directory = options.directory == null ? Path.of("") : options.directory;
    return new Plan(
        Arrays.stream(hostOfRank).boxed().toList(),
        host,
        name,
        options.device,
        options.label,
        options.bind,
        directory.toAbsolutePath().toString(),
        options.environment,
        options.jvmOptions,
        RemoteHost.absolute(
            System.getProperty("java.class.path") + File.pathSeparator + options.classPath),
        options.mainClass,
        options.arguments,
        secret);
  }

  private Host host(Plan plan) throws IOException {
    Host.Events to = new Told();
    if (options.hosts.isEmpty() || options.hosts.get(plan.host()).isThisHost()) {
      return ranksHere(plan, to);
    }
    String java =
        options.remoteJava != null
            ? options.remoteJava
            : Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new RemoteHost(plan, options.shell, java, to, System.out, System.err);
  }

  /**
   * Starts the ranks of this host. If there is no room for rings, the ranks use connections
   * instead, unless the user has asked for rings.
   */
  private Host ranksHere(Plan plan, Host.Events to) throws IOException {
    boolean alone = plan.ranks().size() == plan.size();
    try {
      return new HostRanks(plan, alone, to, System.out, System.err);
    } catch (NoRoomException e) {
      if (!options.anyDevice) {
        throw e;
      }
      Host host = new HostRanks(plan.with("nio"), alone, to, System.out, System.err);
      say(e.getMessage() + "; they talk over connections now, as by -dev nio");
      return host;
    }
  }

  private boolean threads() {
    return options.device.equals("sm");
  }

  /** Notes what hosts say, and answers where all ranks have come to the same place. */
  private final class Told implements Host.Events {
    @Override
    public void hello(int rank, long pid) {
      synchronized (ranks) {
        ranks[rank].pid = pid;
      }
    }

    @Override
    public void rankAddress(int rank, String rankAddress) {
      List<String> all = new ArrayList<>();
      synchronized (ranks) {
        if (ranks[rank].rankAddress != null) {
          return;
        }
        ranks[rank].rankAddress = rankAddress;
        if (++rankAddresses < ranks.length) {
          arrived();
          return;
        }
        for (Rank each : ranks) {
          all.add(each.rankAddress);
        }
      }
      for (Host host : hosts) {
        host.rankAddresses(all);
      }
    }

    @Override
    public void init(int rank) {
      synchronized (ranks) {
        ranks[rank].init = true;
        arrived();
      }
      if (survivors != null) {
        survivors.came(rank);
      }
    }

    private void arrived() {
      if (!anyInit) {
        anyInit = true;
        firstInitNs = System.nanoTime();
      }
    }

    @Override
    public void finish(int rank) {
      synchronized (ranks) {
        ranks[rank].atTheEnd = true;
      }
      goIfAllAreAtTheEnd();
    }

    @Override
    public void said(int rank, String line) {
      if (survivors != null) {
        boolean ignored = survivors.said(rank, line);
      }
    }

    @Override
    public void finalized(int rank) {
      synchronized (ranks) {
        ranks[rank].finalized = true;
      }
    }

    @Override
    public void abort(int rank, int status, String why) {
      events.add(new Event(rank, status, why));
    }

    @Override
    public void exited(int rank, long pid, int status) {
      synchronized (ranks) {
        ranks[rank].pid = pid;
        ranks[rank].ended = true;
      }
      events.add(new Event(rank, status, null));
    }

    @Override
    public void failed(String why) {
      events.add(new Event(-1, 1, why));
    }
  }

  /** Lets the ranks finalize when all that are left have come to the end. */
  private void goIfAllAreAtTheEnd() {
    synchronized (ranks) {
      for (int i = 0; i < ranks.length; i++) {
        if (!ranks[i].atTheEnd && (survivors == null || !survivors.hasEnded(i))) {
          return;
        }
      }
    }
    for (Host host : hosts) {
      host.go();
    }
  }

  private void tell(int rank, String line) {
    for (Host host : hosts) {
      if (host.number() == hostOfRank[rank]) {
        host.tell(rank, line);
      }
    }
  }

  private boolean isInMpi(int rank) {
    synchronized (ranks) {
      return ranks[rank].init;
    }
  }

  /** Whether the job continues without a rank that has failed; the others are told then. */
  private boolean continuesWithout(int rank, int status) throws InterruptedException {
    if (survivors == null) {
      return false;
    }
    // What it said last may be read after its end was seen.
    for (int i = 0; !isInMpi(rank); i++) {
      if (i == LAST_WORDS_LOOKS) {
        return false; // Others may wait for what they would learn of it.
      }
      Thread.sleep(LAST_WORDS_MS);
    }
    String how =
        signal(status) > 0
            ? "it was ended by signal " + signal(status)
            : "its process ended with status " + status;
    survivors.ended(rank, how);
    goIfAllAreAtTheEnd();
    return survivors.endedRanks() < ranks.length;
  }

  /** Waits until all ranks have ended, or one has failed. */
  private int watch() throws InterruptedException {
    long start = System.nanoTime();
    long limit = (long) (options.timeoutSeconds * 1e9);
    int alive = threads() ? 1 : options.ranks;
    while (alive > 0) {
      Event event = events.poll(200, TimeUnit.MILLISECONDS);
      if (ending) {
        return 1;
      }
      long passed = System.nanoTime() - start;
      if (event == null) {
        if (limit > 0 && passed > limit) {
          say("the job has not ended after " + (long) options.timeoutSeconds + " s");
          describe();
          return STATUS_TIMEOUT;
        }
        if (!threads() && missing(passed)) {
          return 1;
        }
        continue;
      }
      if (event.why() != null) {
        say(event.why());
        return event.status();
      }
      int status = judge(event);
      if (status != 0 && !continuesWithout(event.rank(), event.status())) {
        return status;
      }
      alive--;
    }
    return 0;
  }

  /** Names ranks that have not started, or that keep others waiting in Init, after the limit. */
  private boolean missing(long passed) {
    long initLimit = (long) (options.initSeconds * 1e9);
    List<Integer> late = new ArrayList<>();
    String what;
    synchronized (ranks) {
      boolean waited = anyInit && System.nanoTime() - firstInitNs > initLimit;
      if (!waited && passed < START_LIMIT_NS) {
        return false;
      }
      what =
          waited
              ? " has not come to MPI.Init within "
                  + (long) options.initSeconds
                  + " s after the first"
              : " has not started within 60 s";
      for (int i = 0; i < ranks.length; i++) {
        Rank rank = ranks[i];
        boolean absent = waited ? !rank.init && rank.rankAddress == null : rank.pid == 0;
        // One that has ended is missed by those in MPI: for its address, or in their Finalize.
        if (absent && (waited || !rank.ended)) {
          late.add(i);
        }
      }
    }
    for (int rank : late) {
      say(who(rank) + what);
    }
    if (!late.isEmpty()) {
      describe();
    }
    return !late.isEmpty();
  }

  private String who(int rank) {
    long pid = ranks[rank].pid;
    String where =
        options.hosts.isEmpty() ? "" : " on " + options.hosts.get(hostOfRank[rank]).name();
    return "rank " + rank + (pid == 0 ? where : " (pid " + pid + where + ")");
  }

  /** The signal that a status stands for; 0 if for none, such as 255 of {@code exit(-1)}. */
  private static int signal(int status) {
    return status > 128 && status <= 128 + MAX_SIGNAL ? status - 128 : 0;
  }

  private int judge(Event event) {
    int rank = event.rank();
    int status = event.status();
    synchronized (ranks) {
      String who = threads() ? "the ranks" : who(rank);
      if (signal(status) > 0) {
        say(who + " was ended by signal " + signal(status));
      } else if (status != 0) {
        say(who + " ended with status " + status);
      } else if (!threads() && ranks[rank].init && !ranks[rank].finalized) {
        say(who + " ended without MPI.Finalize");
        return 1;
      }
    }
    return status;
  }

  private static void say(String line) {
    synchronized (System.err) {
      System.err.println("talaria mpirun: " + line);
      System.err.flush();
    }
  }

  /** Says what each rank waits for. */
  private void describe() {
    for (Host host : hosts) {
      for (String line : host.describe()) {
        say(line);
      }
    }
  }

  /** At the launcher's end: if that is by a signal, ranks are asked to end before they are made. */
  private void sweep() {
    if (!over) {
      ending = true;
      say("ended by a signal: the ranks get SIGTERM, and SIGKILL after 2 s");
    }
    for (Host host : hosts) {
      host.stop();
    }
    for (Host host : hosts) {
      host.kill();
    }
  }
}
