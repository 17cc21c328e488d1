// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.hosts.HostSettings;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.process.Descriptors;
import io.talaria.nio.process.PeerCredentials;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;

/**
 * The negotiation thread: announcements, sessions, offers, and all file work of the process.
 * Started by its first task, which is the counters file of the process.
 *
 * <p>Public methods may be called by any thread and never block.
 */
public final class Negotiator implements Executor {
  /** How long a closed listener's sessions wait for offers of connections it had accepted. */
  private static final long LATECOMERS_NS = 1_000_000_000L;

  private static final long SILENCE_LIMIT_NS = 2_000_000_000L;
  private static final long ORPHAN_LIMIT_NS = 900_000_000L;

  /** So many tasks are done before the sessions are looked at again, which have time limits. */
  private static final int TASKS_A_TURN = 64;

  /** With thousands of attempts under way, each look at them takes time. */
  private static final long CHECK_EVERY_NS = 1_000_000L;

  /**
   * When something is tried again that failed for want of descriptors, and when a process whose
   * sessions have ended has ended itself.
   */
  private static final long LATER_NS = 250_000_000L;

  /** After so many failures in a row a repeated task is given up. */
  private static final int MOST_FAILURES = 10;

  private static final int KEEP_ALIVE_S = 30;
  private static final int KEEP_ALIVE_TRIES = 6;
  private static final long PAUSE_NS = 10_000_000L;
  private static final int EXAMINE_LIMIT_MS = 5_000;
  private static final int FAST_TICK_MS = 2;
  private static final int YOUNG_TICK_MS = 10;
  private static final int SLOW_TICK_MS = 100;

  private final SelectorProvider jdk;
  private final PrivateDirectory directory;
  private final List<Fabric> fabrics;

  /** Null if there are no rules for other hosts. */
  private final Hosts hosts;

  private final List<Fabric> hostFabrics;

  /** Whether a fabric waits for channels to find their selectors. */
  private final boolean placing;

  private final BiConsumer<String, Throwable> log;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Set<Announcement> announcements = ConcurrentHashMap.newKeySet();

  /** Accepted channels that nobody has made an offer for yet. */
  private final Map<ConnectionKey, Upgradable> accepted = new ConcurrentHashMap<>();

  /** Offers for connections that the program has not accepted yet. */
  private final Map<ConnectionKey, ReceivedOffer> offers = new ConcurrentHashMap<>();

  // Confined to the thread.
  private final Map<String, Session> dialled = new HashMap<>();
  private final Set<Session> sessions = new HashSet<>();
  private final Map<Upgradable, Applicant> attempts = new HashMap<>();
  private final List<Orphan> orphans = new ArrayList<>();
  private final List<Repetition> repeated = new ArrayList<>();
  private final List<Later> later = new ArrayList<>();
  private long checkedAtNs = System.nanoTime();

  /** Whether a sweep is due. */
  private boolean sweeping;

  private volatile ProcessCounters counters = ProcessCounters.onHeap("not opened yet");
  private volatile Selector selector;
  private volatile Thread runner;

  private record Orphan(Upgradable channel, long deadlineNs) {}

  private record Later(Runnable task, long dueNs) {}

  /** Work that is tried again until it is done. */
  @FunctionalInterface
  public interface Repeated {
    /**
     * Tries once. On the negotiation thread.
     *
     * @return true when done
     */
    boolean tryOnce();
  }

  /** A repeated task, and how often in a row it has failed. */
  private static final class Repetition {
    final Repeated task;
    final Runnable givenUp;
    int failures;
    boolean reported;

    Repetition(Repeated task, Runnable givenUp) {
      this.task = task;
      this.givenUp = givenUp;
    }
  }

  /**
   * @param jdk the JDK's own provider
   * @param directory where announcements stand
   * @param fabrics the fabrics on one host, in order of preference
   * @param log takes lines for people, seldom, each with what was thrown or null
   */
  public Negotiator(
      SelectorProvider jdk,
      PrivateDirectory directory,
      List<Fabric> fabrics,
      BiConsumer<String, Throwable> log) {
    this(jdk, directory, fabrics, null, List.of(), log);
  }

  /**
   * As the other, with other hosts.
   *
   * @param settings who is asked on other hosts; null: nobody
   * @param hostFabrics the fabrics between hosts, in order of preference
   */
  public Negotiator(
      SelectorProvider jdk,
      PrivateDirectory directory,
      List<Fabric> fabrics,
      HostSettings settings,
      List<Fabric> hostFabrics,
      BiConsumer<String, Throwable> log) {
    this.jdk = jdk;
    this.directory = directory;
    this.fabrics = List.copyOf(fabrics);
    placing = this.fabrics.stream().anyMatch(Fabric::placesStreams);
    this.log = log;
    this.hostFabrics = List.copyOf(hostFabrics);
    hosts = settings == null ? null : new Hosts(this, jdk, settings, this.hostFabrics);
  }

  /** Counters of what is negotiated; set once, before the first connection. */
  public void counters(ProcessCounters value) {
    counters = value;
  }

  ProcessCounters counters() {
    return counters;
  }

  /** Whether it is not known yet which fabrics can be used. */
  private boolean starting() {
    for (Fabric fabric : fabrics) {
      if (fabric.starting()) {
        return true;
      }
    }
    return false;
  }

  /** The fabrics that can be used, in order of preference; none if {@link #unusable} says why. */
  List<Fabric> usable() {
    List<Fabric> usable = new ArrayList<>(fabrics.size());
    for (Fabric fabric : fabrics) {
      Reason reason = fabric.unavailable();
      if (reason == null) {
        usable.add(fabric);
      } else if (fabrics.size() > 1) {
        report(reason, "fabric " + fabric.name() + " is passed over. " + fabric.problem());
      }
    }
    return usable;
  }

  /** A usable fabric by its name, or null. */
  Fabric usable(String name) {
    for (Fabric fabric : fabrics) {
      if (fabric.name().equals(name)) {
        return fabric.unavailable() == null ? fabric : null;
      }
    }
    return null;
  }

  /** Why no fabric can be used: the preferred one's reason; null if one can. */
  private Reason unusable() {
    Reason first = null;
    for (Fabric fabric : fabrics) {
      Reason reason = fabric.unavailable();
      if (reason == null) {
        return null;
      }
      if (first == null) {
        first = reason;
      }
      if (!fabric.problem().isEmpty()) {
        report(reason, "fabric " + fabric.name() + " cannot be used. " + fabric.problem());
      }
    }
    return first;
  }

  void report(Reason reason, String text) {
    log.accept(reason.code() + ": " + text, null);
  }

  /** Reports what should not have happened. Never throws: the log may be what has failed. */
  void failure(String what, Throwable cause) {
    try {
      log.accept(Reason.INTERNAL.code() + ": negotiation, " + what + ": " + cause, cause);
    } catch (RuntimeException | Error e) {
      // Nobody is left to be told.
    }
  }

  // ---- what channels ask

  /** Announces a listener. */
  public Announcement announce(InetSocketAddress address, Consumer<Reason> outcome) {
    Announcement announcement = new Announcement(address);
    announcements.add(announcement);
    if (running() == null) {
      outcome.accept(Reason.LIMIT); // so far
    }
    if (hosts != null) {
      hosts.listen(announcement, address);
    }
    isolate(
        "announcing " + address,
        () -> open(announcement, outcome),
        () -> outcome.accept(Reason.INTERNAL));
    return announcement;
  }

  /** Takes an announcement back. */
  public void retire(Announcement announcement) {
    announcement.removeFile();
    announcements.remove(announcement); // only now: an exit in between removes the file
    execute(announcement::close);
    if (hosts != null) {
      execute(() -> hosts.retire(announcement));
    }
  }

  /** A client connection stands: looks for an upgrade. */
  public void connected(Upgradable channel) {
    if (running() == null) {
      channel.plainSoFar(Reason.LIMIT);
    }
    if (placing) {
      repeat(() -> !starting() && placed(channel, () -> attempt(channel)), () -> fail(channel));
    } else {
      isolate("an upgrade", () -> attempt(channel), () -> fail(channel));
    }
  }

  /** The channel's upgrade has failed for an error of ours. */
  private void fail(Upgradable channel) {
    Applicant attempt = attempts.get(channel);
    if (attempt == null) {
      channel.plain(Reason.INTERNAL);
    } else {
      attempt.failed(Reason.INTERNAL);
    }
  }

  /** Whether connections to other hosts may be upgraded, so that they are to be told of. */
  public boolean reachesHosts() {
    return hosts != null;
  }

  /** A client connection to another host stands: looks for an upgrade, if hosts are reached. */
  public void connectedToHost(Upgradable channel) {
    if (running() == null) {
      channel.plainSoFar(Reason.LIMIT);
    }
    hosts.connected(channel);
  }

  private static boolean placed(Upgradable channel, Runnable then) {
    boolean placed = channel.placed();
    if (placed) {
      then.run();
    }
    return placed;
  }

  /** The program has accepted a connection: an offer for it may be here, or come later. */
  public void accepted(Upgradable channel) {
    ConnectionKey key = channel.key();
    accepted.put(key, channel);
    if (offers.containsKey(key)) {
      execute(() -> match(key));
    }
  }

  /** A channel closes that this negotiator has heard of. */
  public void closed(Upgradable channel, boolean fromAccept, boolean upgraded) {
    if (fromAccept) {
      accepted.remove(channel.key(), channel);
    }
    if (!fromAccept || upgraded) {
      execute(() -> forget(channel));
    }
  }

  /**
   * Repeats a short task every few milliseconds until it says that it is done. One that only fails
   * is given up.
   */
  public void repeat(Repeated task) {
    repeat(task, () -> {});
  }

  /**
   * As the other.
   *
   * @param givenUp is run once if the task has failed again and again; negotiation thread
   */
  public void repeat(Repeated task, Runnable givenUp) {
    Repetition repetition = new Repetition(task, givenUp);
    execute(
        () -> {
          if (!over(repetition)) {
            repeated.add(repetition);
          }
        });
  }

  /** Does a task on the thread of its own; if it fails, does the other. */
  private void isolate(String what, Runnable task, Runnable failed) {
    execute(() -> runGuarded(what, task, failed));
  }

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    Selector running = running();
    if (running != null) {
      running.wakeup();
    }
  }

  /**
   * The calling thread has got an {@link InternalError}: finds the streams whose memory is gone and
   * fails them, as {@link Faults} says. Any thread; waits for the negotiation thread, so no lock
   * may be held for which that one waits.
   *
   * @return whether any is; if not, the error is another's
   */
  public boolean examine() {
    if (isCurrentThread()) {
      return examineAll();
    }
    FutureTask<Boolean> found = new FutureTask<>(this::examineAll);
    execute(found);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return found.get(EXAMINE_LIMIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
          return false;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean examineAll() {
    boolean gone = false;
    for (Fabric fabric : fabrics) { // the others have no memory that can go
      try {
        gone |= fabric.examine();
      } catch (RuntimeException | Error e) {
        failure("looking for lost memory of fabric " + fabric.name(), e);
      }
    }
    return gone;
  }

  /** Announces nothing more, and takes all announcements back; for process exit. */
  public void removeFiles() {
    directory.close();
    announcements.forEach(Announcement::removeFile);
  }

  // ---- the thread

  /** The selector of the thread, which is started if need be; null if that is impossible now. */
  private Selector running() {
    Selector running = selector;
    return running == null ? start() : running;
  }

  private synchronized Selector start() {
    if (selector == null) {
      try {
        Selector opened = jdk.openSelector();
        selector = opened;
        Thread thread = new Thread(null, () -> run(opened), "talaria-negotiation", 0, false);
        thread.setDaemon(true);
        runner = thread;
        thread.start();
      } catch (IOException e) {
        // Tasks wait for the next one, which tries again: descriptors may be free by then.
        report(Reason.LIMIT, "no selector for the negotiation, connections stay plain: " + e);
      }
    }
    return selector;
  }

  boolean isCurrentThread() {
    return Thread.currentThread() == runner;
  }

  private void run(Selector running) {
    runGuarded("the first look at the directory", this::prepareDirectory, () -> {});
    if (hosts != null) {
      runGuarded("the start of what reaches other hosts", hosts::begin, () -> {});
    }
    while (true) {
      try {
        turn(running);
      } catch (IOException | RuntimeException | Error e) {
        failure("a turn", e);
        LockSupport.parkNanos(PAUSE_NS); // if it is the selector that fails, it may do so for good
      }
    }
  }

  private void prepareDirectory() {
    Reason unusable = directory.prepare();
    if (unusable == null) {
      sweepDirectory();
    } else {
      report(unusable, directory.problem());
    }
  }

  private void turn(Selector running) throws IOException {
    if (tasks.isEmpty()) {
      running.select(this::dispatch, tickMs());
    } else {
      running.selectNow(this::dispatch);
    }
    for (int i = 0; i < TASKS_A_TURN; i++) {
      Runnable task = tasks.poll();
      if (task == null) {
        break;
      }
      runGuarded("a task", task, () -> {});
    }
    long now = System.nanoTime();
    if (now - checkedAtNs >= CHECK_EVERY_NS) {
      checkedAtNs = now;
      checkTimes(now);
    }
  }

  /**
   * Does a piece of work. If shared memory turns out to be gone, that ends its streams only; if the
   * work fails in another way, so does only what it is about.
   */
  void runGuarded(String what, Runnable work, Runnable failed) {
    try {
      work.run();
      Faults.take();
      return;
    } catch (InternalError e) {
      if (examineAll()) {
        return;
      }
      failure(what, e);
    } catch (RuntimeException | Error e) {
      failure(what, e);
    }
    try {
      failed.run();
    } catch (RuntimeException | Error e) {
      failure("the end of " + what, e);
    }
  }

  /** Tries once. Not over if memory turned out to be gone: then it finds the stream ended. */
  private boolean over(Repetition repetition) {
    try {
      boolean done = repetition.task.tryOnce();
      Faults.take();
      repetition.failures = 0;
      return done;
    } catch (InternalError e) {
      return !examineAll() && givenUp(repetition, e);
    } catch (RuntimeException | Error e) {
      return givenUp(repetition, e);
    }
  }

  private boolean givenUp(Repetition repetition, Throwable cause) {
    if (!repetition.reported) {
      repetition.reported = true;
      failure("a repeated task", cause);
    }
    repetition.failures++;
    boolean enough = repetition.failures >= MOST_FAILURES;
    if (enough) {
      runGuarded("the end of a repeated task", repetition.givenUp, () -> {});
    }
    return enough;
  }

  private long tickMs() {
    long now = System.nanoTime();
    if (youngOrphans(now) || !repeated.isEmpty()) {
      return FAST_TICK_MS;
    }
    for (Session session : sessions) {
      if (session.greeting() || session.useless(now, 0)) {
        return SLOW_TICK_MS;
      }
    }
    boolean watched = !orphans.isEmpty() || !later.isEmpty() || (hosts != null && hosts.watched());
    long tickMs = watched ? SLOW_TICK_MS : 0;
    for (Applicant attempt : attempts.values()) {
      if (attempt.young()) {
        return YOUNG_TICK_MS;
      }
      if (attempt.watched()) {
        tickMs = SLOW_TICK_MS;
      }
    }
    return tickMs;
  }

  /** An old one waits for its program to read what TCP has. */
  private boolean youngOrphans(long now) {
    return !orphans.isEmpty() && orphans.get(orphans.size() - 1).deadlineNs() - now > 0;
  }

  private void checkTimes(long now) {
    for (Session session : List.copyOf(sessions)) {
      runGuarded(
          "the age of a session",
          () -> {
            session.checkGreeting(now);
            if (session.useless(now, LATECOMERS_NS)) {
              session.close(Reason.CLOSED_EARLY);
            }
          },
          () -> session.close(Reason.INTERNAL));
    }
    for (Applicant attempt : List.copyOf(attempts.values())) {
      runGuarded(
          "an upgrade",
          () -> attempt.check(now, SILENCE_LIMIT_NS),
          () -> attempt.failed(Reason.INTERNAL));
    }
    if (hosts != null) {
      runGuarded("the age of calls", () -> hosts.check(now), () -> {});
    }
    for (Orphan orphan : List.copyOf(orphans)) {
      runGuarded(
          "a connection whose session has ended",
          () -> {
            if (orphan.channel().peerLost(now - orphan.deadlineNs() > 0)) {
              orphans.remove(orphan);
            }
          },
          () -> orphans.remove(orphan));
    }
    repeated.removeIf(this::over);
    while (!later.isEmpty() && now - later.get(0).dueNs() >= 0) {
      runGuarded("a later task", later.remove(0).task(), () -> {});
    }
  }

  /** Does something a quarter of a second later. Negotiation thread. */
  void later(Runnable task) {
    later.add(new Later(task, System.nanoTime() + LATER_NS));
  }

  private void dispatch(SelectionKey key) {
    if (key.attachment() instanceof Session session) {
      runGuarded("a session", session::ready, () -> session.close(Reason.INTERNAL));
    } else if (key.attachment() instanceof Caller caller) {
      runGuarded("a call", caller::ready, () -> caller.fail(Reason.INTERNAL, "see the log"));
    } else if (key.attachment() instanceof Rendezvous door) {
      runGuarded("a rendezvous", () -> hosts.knock(door), () -> rest(door));
    } else {
      Announcement announcement = (Announcement) key.attachment();
      runGuarded("an announcement", () -> greet(announcement), () -> rest(announcement));
    }
  }

  /** Hears nobody for a moment: what has failed may pass, and is not to be tried without end. */
  private void rest(Doorway door) {
    door.pause();
    later(door::listen);
  }

  // ---- announcements and sessions

  private void open(Announcement announcement, Consumer<Reason> outcome) {
    boolean starting = starting();
    Reason unusable = directory.prepare();
    if (unusable == null && !starting) {
      unusable = unusable();
    }
    if (unusable == null) {
      try {
        directory.create(
            () -> {
              announcement.open(jdk, directory.path(), selector);
              return announcement;
            });
      } catch (IOException | RuntimeException e) {
        unusable = directoryOrLimit("cannot announce a listener in " + directory.path(), e);
        if (unusable == Reason.LIMIT) {
          later(() -> openUnlessRetired(announcement, outcome));
        }
      }
    }
    outcome.accept(unusable == null ? Reason.ANNOUNCED : unusable);
    if (unusable == null) {
      if (starting) { // clients shall find it, and wait
        repeat(
            () -> !starting() && opened(announcement, outcome),
            () -> outcome.accept(Reason.INTERNAL));
      } else {
        announcement.listen();
      }
    }
  }

  private void openUnlessRetired(Announcement announcement, Consumer<Reason> outcome) {
    if (!announcement.retired()) {
      open(announcement, outcome);
    }
  }

  private boolean opened(Announcement announcement, Consumer<Reason> outcome) {
    Reason unusable = unusable();
    if (unusable == null) {
      announcement.listen();
    } else {
      announcement.close();
      announcements.remove(announcement);
      outcome.accept(unusable);
    }
    return true;
  }

  private void greet(Announcement announcement) {
    try {
      for (int i = 0; i < TASKS_A_TURN; i++) { // the selector brings us back for the rest
        SocketChannel dialler = announcement.accept();
        if (dialler == null) {
          break;
        }
        greet(announcement, dialler);
      }
    } catch (IOException e) {
      report(Reason.LIMIT, "cannot accept a session: " + e);
      rest(announcement);
    }
  }

  private void greet(Announcement announcement, SocketChannel dialler) {
    try {
      if (PeerCredentials.sameUser(dialler, directory.path())) {
        Session session = new Session(this, dialler, announcement);
        session.register(selector);
        sessions.add(session);
        return;
      }
      counters.refused(Reason.OTHER_USER);
    } catch (IOException e) {
      report(Reason.NO_RUNTIME_DIR, "cannot tell whose a dialler is: " + e);
    }
    closeQuietly(dialler);
  }

  private void attempt(Upgradable channel) {
    if (!channel.wanted()) {
      return;
    }
    Reason unusable = directory.prepare();
    if (unusable == null) {
      unusable = unusable();
    }
    if (unusable != null) {
      channel.plain(unusable);
      return;
    }
    Attempt attempt = new Attempt(this, channel);
    attempts.put(channel, attempt);
    attempt.begin();
  }

  /** Reports what could not be done in the directory, and tells why. */
  private Reason directoryOrLimit(String what, Exception failure) {
    Reason reason = Descriptors.ranOut(failure) ? Reason.LIMIT : Reason.NO_RUNTIME_DIR;
    report(reason, what + ": " + failure);
    return reason;
  }

  /**
   * Names of the announcements of a port.
   *
   * @throws FabricException if this process has no descriptor to look with
   */
  List<String> candidates(int port) throws FabricException {
    List<String> names = new ArrayList<>();
    String prefix = Announcement.namePrefix(port);
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(
            directory.path(), file -> file.getFileName().toString().startsWith(prefix))) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    } catch (IOException | RuntimeException e) {
      String what = "cannot read " + directory.path();
      if (directoryOrLimit(what, e) == Reason.LIMIT) {
        throw new FabricException(Reason.LIMIT, what, e);
      }
    }
    return names;
  }

  /**
   * The session with an announcement for a fabric, new or standing; null if nobody is there.
   *
   * @throws FabricException if the peer is there but cannot be reached by the fabric
   */
  Session dial(String name, Fabric fabric) throws FabricException {
    String which = name + ' ' + fabric.name();
    Session standing = dialled.get(which);
    if (standing != null) {
      return standing;
    }
    Path path = directory.path().resolve(name);
    SocketChannel channel = null;
    Session session;
    try {
      channel = jdk.openSocketChannel(StandardProtocolFamily.UNIX);
      channel.configureBlocking(false);
      if (!channel.connect(UnixDomainSocketAddress.of(path))
          || !PeerCredentials.sameUser(channel, directory.path())) {
        channel.close();
        return null;
      }
      session = new Session(this, channel, which, fabric);
      session.register(selector);
    } catch (IOException e) {
      if (channel == null) {
        String what = "no socket to reach a listener: " + e;
        report(Reason.LIMIT, what);
        throw new FabricException(Reason.LIMIT, what, e);
      }
      closeQuietly(channel);
      removeStale(path, e);
      return null;
    }
    sessions.add(session);
    dialled.put(which, session);
    try {
      session.sayHello();
    } catch (FabricException e) {
      report(e.reason(), e.getMessage());
      session.close(e.reason());
      throw e;
    }
    return session;
  }

  /** Whether an announcement, of which there is a session, still has its name. */
  boolean stillAnnounced(Session dialledThere) {
    String which = dialledThere.dialled();
    return Files.exists(directory.path().resolve(which.substring(0, which.indexOf(' '))));
  }

  /** A name that refuses belongs to nobody: it is given only to sockets that listen. */
  private void removeStale(Path path, IOException refusal) {
    if (refusal instanceof java.net.ConnectException) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        // Tried again by the next client.
      }
    }
  }

  private static void closeQuietly(SocketChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // Nothing left to do.
      }
    }
  }

  // ---- between hosts

  Selector selector() {
    return selector;
  }

  void begun(Applicant attempt) {
    attempts.put(attempt.channel(), attempt);
  }

  /** A session by its name, or null. */
  Session standing(String name) {
    return dialled.get(name);
  }

  void remember(Where where, Reason reason) {
    hosts.remember(where, reason);
  }

  Fabric usableBetweenHosts(String name) {
    return hosts.usable(name);
  }

  /** Another host has called, and has proved itself. */
  void answeredFrom(SocketChannel channel, Doorway door, HostLink link) {
    try {
      Session session = new Session(this, channel, door, link);
      keepAlive(channel);
      session.register(selector);
      sessions.add(session);
    } catch (IOException e) {
      closeQuietly(channel);
    }
  }

  /**
   * The other host has answered, and has proved itself; null if there is no session all the same.
   */
  Session answeredBy(SocketChannel channel, Fabric fabric, HostLink link) {
    Session session = new Session(this, channel, fabric, link);
    try {
      keepAlive(channel);
      session.register(selector);
    } catch (IOException e) {
      closeQuietly(channel);
      return null;
    }
    sessions.add(session);
    dialled.put(link.where().name(), session);
    try {
      session.sayHello();
    } catch (FabricException e) {
      report(e.reason(), e.getMessage());
      session.close(e.reason());
    }
    return session;
  }

  /** A host that is gone is to be noticed, and a firewall is not to forget an idle session. */
  private static void keepAlive(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    try {
      channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_ALIVE_S);
      channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_ALIVE_S / 3);
      channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_TRIES);
    } catch (UnsupportedOperationException | NoClassDefFoundError e) {
      // A run-time image without jdk.net: the system's times hold.
    }
  }

  void ended(Session session, String name) {
    sessions.remove(session);
    if (name != null) {
      dialled.remove(name, session);
    }
    if (!sweeping) {
      sweeping = true;
      later(this::sweep);
    }
  }

  /** Once for all sessions that end together: there may be one for each of a thousand listeners. */
  private void sweep() {
    sweeping = false;
    runGuarded("sweeping", this::sweepDirectory, () -> {});
    for (Fabric fabric : fabrics) {
      runGuarded("sweeping for fabric " + fabric.name(), fabric::sweep, () -> {});
    }
  }

  private void sweepDirectory() {
    ProcessFileName.sweep(directory.path(), 'l');
    ProcessFileName.sweep(directory.path(), 't');
    int unused = ProcessCounters.sweep(directory.path());
  }

  // ---- matching offers with accepted channels

  void match(ReceivedOffer offer) {
    ReceivedOffer replaced = offers.put(offer.connection(), offer);
    if (replaced != null) {
      replaced.session().refuse(replaced.id(), Reason.REFUSED);
    }
    match(offer.connection());
  }

  /** Number of offers that no accepted channel has been found for yet, of all sessions. */
  int offersPending() {
    return offers.size();
  }

  private void match(ConnectionKey key) {
    ReceivedOffer offer = offers.get(key);
    boolean place = offer != null && offer.session().placesStreams();
    Upgradable waiting = place ? accepted.get(key) : null;
    if (waiting == null || waiting.placed()) {
      matchNow(key);
    } else {
      repeat(() -> placed(waiting, () -> matchNow(key)), () -> failMatch(key));
    }
  }

  private void matchNow(ConnectionKey key) {
    ReceivedOffer offer = offers.get(key);
    if (offer == null) {
      return;
    }
    Upgradable channel = accepted.remove(key);
    if (channel != null) {
      offers.remove(key);
      offer.session().accept(offer, channel);
    }
  }

  private void failMatch(ConnectionKey key) {
    ReceivedOffer offer = offers.remove(key);
    if (offer != null) {
      offer.session().refuse(offer.id(), Reason.INTERNAL);
    }
    Upgradable channel = accepted.remove(key);
    if (channel != null) {
      channel.plain(Reason.INTERNAL);
    }
  }

  void unmatch(ConnectionKey key, Session session) {
    ReceivedOffer offer = offers.get(key);
    if (offer != null && offer.session() == session) {
      offers.remove(key);
    }
  }

  void finished(Applicant attempt) {
    attempts.remove(attempt.channel(), attempt);
  }

  private void forget(Upgradable channel) {
    Applicant attempt = attempts.get(channel);
    if (attempt != null) {
      attempt.cancel();
    }
    for (Session session : sessions) {
      session.forget(channel);
    }
    orphans.removeIf(orphan -> orphan.channel() == channel);
  }

  void orphans(Collection<Upgradable> channels) {
    long deadline = System.nanoTime() + ORPHAN_LIMIT_NS;
    for (Upgradable channel : channels) {
      orphans.add(new Orphan(channel, deadline));
    }
  }
}
