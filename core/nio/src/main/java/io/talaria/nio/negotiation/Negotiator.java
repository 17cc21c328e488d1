// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.transport.TransportProvider;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * What the channels ask of the negotiation, and the parts that do it: each owns its state, and all
 * of them are confined to the thread of {@link NegotiationLoop}, which also does all file work of
 * the process. Its first task is the counters file.
 *
 * <pre>
 *   NegotiationLoop   thread, selector, tasks, clock; isolates what fails
 *   Announcer         this process's listeners: announcements, and who dials them
 *   Dialler           announcements of other processes: finding and dialling them
 *   Attempts          client connections that look for an upgrade
 *   Matcher           offers of peers and accepted connections
 *   Sessions          connections to peer processes
 *   Sweeper           what processes that have ended have left
 *   RemoteHosts       other hosts, if they are reached
 * </pre>
 *
 * <p>Public methods may be called by any thread and never block, but for {@link #examine}.
 */
public final class Negotiator implements Executor {
  private final Reports reports;
  private final LocalTransports transports;
  private final NegotiationLoop loop;
  private final Announcer announcer;
  private final Dialler dialler;
  private final Attempts attempts;
  private final Matcher matcher;
  private final Sessions sessions;
  private final Sweeper sweeper;

  /** Null if other hosts are not reached. */
  private final RemoteHosts hosts;

  private final boolean sharesNamespaces;

  private volatile ProcessCounters counters = ProcessCounters.onHeap("not opened yet");

  /**
   * @param jdk the JDK's own provider
   * @param directory where announcements stand
   * @param transports the transports on one host, in order of preference
   * @param hosts what reaches other hosts, or null
   * @param sharesNamespaces whether memory is shared with other network namespaces of this host
   * @param log takes lines for people, seldom, each with what was thrown or null
   */
  public Negotiator(
      SelectorProvider jdk,
      PrivateDirectory directory,
      List<TransportProvider> transports,
      RemoteHosts hosts,
      boolean sharesNamespaces,
      BiConsumer<String, Throwable> log) {
    this.hosts = hosts;
    this.sharesNamespaces = sharesNamespaces;
    reports = new Reports(log);
    this.transports = new LocalTransports(transports, reports, why -> counters.ucxUnavailable(why));
    loop = new NegotiationLoop(jdk, reports, this.transports::examine);
    announcer = new Announcer(this, directory);
    dialler = new Dialler(this, directory);
    attempts = new Attempts(this, directory);
    matcher = new Matcher(loop);
    sessions = new Sessions(this);
    sweeper = new Sweeper(this, directory);
    loop.atBegin(sweeper::begin);
    loop.add(sessions);
    loop.add(attempts);
    loop.add(this.transports);
    if (hosts != null) {
      hosts.join(this);
      loop.atBegin(hosts::begin);
      loop.add(hosts);
    }
  }

  /** Counters of what is negotiated; set once, before the first connection. */
  public void counters(ProcessCounters value) {
    counters = value;
  }

  // ---- what channels ask

  /** Announces a listener. */
  public Announcement announce(InetSocketAddress address, Consumer<Reason> outcome) {
    Announcement announcement = announcer.announce(address, outcome);
    if (hosts != null) {
      hosts.listen(announcement, address);
    }
    return announcement;
  }

  /**
   * Returns the transport that this process prefers, of those that can be used; one that is still
   * starting counts as usable. Any thread.
   */
  public NioTransport preferred() {
    return transports.preferred();
  }

  /** Takes an announcement back. */
  public void retire(Announcement announcement) {
    announcer.retire(announcement);
    if (hosts != null) {
      loop.execute(() -> hosts.retire(announcement));
    }
  }

  /** Whether connections to other network namespaces of this host may be upgraded. */
  public boolean sharesNamespaces() {
    return sharesNamespaces;
  }

  /** A client connection stands: looks for an upgrade. */
  public void connected(Upgradable channel) {
    attempts.connected(channel);
  }

  /** Whether connections to other hosts may be upgraded, so that they are to be told of. */
  public boolean reachesHosts() {
    return hosts != null;
  }

  /**
   * Whether a client connection to another host may be upgraded, as far as is known at once: if
   * not, {@link #connectedToHost} says why without a look at anything.
   */
  public boolean mayReachHost(ConnectionKey key) {
    return hosts != null && hosts.mayReach(key);
  }

  /** A client connection to another host stands: looks for an upgrade, if hosts are reached. */
  public void connectedToHost(Upgradable channel) {
    if (!loop.started()) {
      channel.plainSoFar(Reason.LIMIT);
    }
    hosts.connected(channel);
  }

  /** The program has accepted a connection: an offer for it may be here, or come later. */
  public void accepted(Upgradable channel) {
    Reason unusable = announcer.unusable();
    channel.plainSoFar(unusable == null ? Reason.NO_OFFER : unusable);
    matcher.accepted(channel);
    Reason found = announcer.unusable();
    if (found != null && found != unusable) { // its finder may not have seen the channel
      loop.execute(() -> matcher.unusable(found));
    }
  }

  /**
   * A channel closes that this negotiator has heard of. Only a search that is still under way has
   * an end that others wait for: that an upgraded channel is forgotten need not wake the thread for
   * each of thousands that close together.
   *
   * @param upgraded whether it has got a stream; it gets none after this
   */
  public void closed(Upgradable channel, boolean fromAccept, boolean upgraded) {
    if (fromAccept) {
      matcher.closed(channel);
    }
    if (upgraded) {
      loop.eventually(() -> forget(channel));
    } else if (!fromAccept) {
      loop.execute(() -> forget(channel));
    }
  }

  private void forget(Upgradable channel) {
    attempts.forget(channel);
    sessions.forget(channel);
  }

  @Override
  public void execute(Runnable task) {
    loop.execute(task);
  }

  /**
   * Does something short at once; but where the negotiation thread asks for it, once for all that
   * its present turn brings: at the end of that or, if it is long, half a millisecond after the
   * first.
   *
   * @param task the same object each time
   */
  public void onceATurn(Runnable task) {
    loop.onceATurn(task);
  }

  /**
   * Repeats a short task every few milliseconds until it says that it is done. One that only fails
   * is given up.
   */
  public void repeat(NegotiationLoop.Repeated task) {
    loop.repeat(task, () -> {});
  }

  /**
   * As the other.
   *
   * @param givenUp is run once, instead, if the task fails again and again; negotiation thread
   */
  public void repeat(NegotiationLoop.Repeated task, Runnable givenUp) {
    loop.repeat(task, givenUp);
  }

  /**
   * The calling thread has got an {@link InternalError}: finds the streams whose memory is gone and
   * fails them. Waits for the negotiation thread, so no lock may be held for which that one waits.
   *
   * @return whether any is; if not, the error is another's
   */
  public boolean examine() {
    return loop.examine();
  }

  /** Announces nothing more, and takes all announcements back; for process exit. */
  public void removeFiles() {
    announcer.removeFiles();
  }

  // ---- what reaches other hosts asks

  /** The negotiation thread. */
  public NegotiationLoop loop() {
    return loop;
  }

  /** What is told to people. */
  public Reports reports() {
    return reports;
  }

  /** What is counted. */
  public ProcessCounters counters() {
    return counters;
  }

  /** Begins to look for an upgrade. Negotiation thread. */
  public void begin(UpgradeAttempt attempt) {
    attempts.begin(attempt);
  }

  /** The session that was dialled by a name, or null. Negotiation thread. */
  public Session standing(String name) {
    return sessions.standing(name);
  }

  // ---- what the parts ask

  LocalTransports transports() {
    return transports;
  }

  Dialler dialler() {
    return dialler;
  }

  Attempts attempts() {
    return attempts;
  }

  Announcer announcer() {
    return announcer;
  }

  Matcher matcher() {
    return matcher;
  }

  Sessions sessions() {
    return sessions;
  }

  Sweeper sweeper() {
    return sweeper;
  }
}
