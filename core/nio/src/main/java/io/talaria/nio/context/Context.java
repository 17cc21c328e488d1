// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.context;

import io.talaria.nio.Reason;
import io.talaria.nio.config.Config;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.hosts.HostNegotiation;
import io.talaria.nio.hosts.HostSettings;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.jdk.JdkTtl;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.negotiation.Negotiator;
import io.talaria.nio.shm.ShmTransport;
import io.talaria.nio.spin.Spinning;
import io.talaria.nio.transport.Log;
import io.talaria.nio.transport.TalariaThread;
import io.talaria.nio.transport.ToldProblems;
import io.talaria.nio.transport.TransportProvider;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** What all channels and selectors of a process share. Made with the provider, once. */
public final class Context {
  private static final int MAX_LINES = 256;

  /** Above what systems use (64, 128, 255), less the routers that a packet passes. */
  private static final int MIN_TTL = 130;

  private static final int TTLS = 90;
  private static final String BETWEEN_HOSTS = "ucx";

  /** What is as it should be, or as the peer or its user wants it. */
  private static final Set<Reason> IN_ORDER =
      Set.of(
          Reason.PENDING,
          Reason.SAME_HOST,
          Reason.BETWEEN_HOSTS,
          Reason.ANNOUNCED,
          Reason.PEER_NOT_ACCELERATED,
          Reason.NOT_LOCAL,
          Reason.NO_RULE,
          Reason.NO_OFFER,
          Reason.NOT_MATCHED,
          Reason.OTHER_NAMESPACE,
          Reason.NOT_DIRECT,
          Reason.OTHER_USER,
          Reason.REFUSED,
          Reason.CLOSED_EARLY,
          Reason.PORT_LEFT_OUT,
          Reason.PEER_LOST,
          Reason.NOT_EARNED);

  private final SelectorProvider provider;
  private final SelectorProvider jdk;
  private final Config config;
  private final List<TransportProvider> transports;

  private final Negotiator negotiator;
  private final ProcessCounters counters;
  private final Spinning spinning;
  private final SleepAudit audit;

  /** Held while this is made, so that an exit meanwhile finds all there is to remove. */
  private final Object exit = new Object();

  private final Set<String> logged = ConcurrentHashMap.newKeySet();
  private final Set<Reason> noticed = ConcurrentHashMap.newKeySet();

  /**
   * @param provider the provider that programs see
   * @param config the checked configuration
   */
  public Context(SelectorProvider provider, Config config) {
    this.provider = provider;
    this.config = config;
    jdk = JdkNio.provider();
    spinning = new Spinning(config.spinNs());
    HostSettings settings = config.enabled() ? HostSettings.load(config) : null;
    boolean hosts = settings != null && settings.problem() == null;
    List<TransportProvider> local =
        config.transports().stream()
            .distinct()
            .map(name -> transport(name, config, hosts))
            .toList();
    List<TransportProvider> between = hosts ? betweenHosts(local) : List.of();
    transports = Stream.concat(local.stream(), between.stream()).distinct().toList();
    PrivateDirectory directory =
        new PrivateDirectory(config.dir(), Reason.NO_RUNTIME_DIR, config.sharesNamespaces());
    negotiator =
        new Negotiator(
            jdk,
            directory,
            local,
            settings == null ? null : new HostNegotiation(settings, between),
            config.sharesNamespaces(),
            this::warn);
    audit = SleepAudit.of(negotiator);
    if (config.enabled()) {
      synchronized (exit) {
        if (hooked(directory)) {
          counters =
              ProcessCounters.open(config.dir(), negotiator, problem -> unseen(directory, problem));
        } else {
          negotiator.removeFiles();
          transports.forEach(TransportProvider::exit);
          counters = ProcessCounters.onHeap("this process is exiting");
        }
      }
      counters.makeCurrent();
      negotiator.counters(counters);
    } else {
      counters = ProcessCounters.onHeap("switched off");
    }
  }

  /** The transport that reaches other hosts, whether it is wanted on this one or not. */
  private static List<TransportProvider> betweenHosts(List<TransportProvider> local) {
    return List.of(
        local.stream()
            .filter(transport -> transport.name().equals(BETWEEN_HOSTS))
            .findFirst()
            .orElseGet(() -> NamedTransport.load(BETWEEN_HOSTS, true)));
  }

  private static TransportProvider transport(String name, Config config, boolean hosts) {
    return switch (name) {
      case ShmTransport.NAME ->
          new ShmTransport(
              new PrivateDirectory(config.shmDir(), Reason.NO_SHM_DIR, config.sharesNamespaces()),
              config.ringInitialBytes(),
              config.ringMaxBytes());
      default -> NamedTransport.load(name, hosts);
    };
  }

  /** Before the first file is made; false if the process is exiting already. */
  private boolean hooked(PrivateDirectory directory) {
    Runnable removal =
        () -> {
          synchronized (exit) {
            negotiator.removeFiles();
            transports.forEach(TransportProvider::exit);
            counters.close();
            directory.release();
          }
        };
    try {
      Runtime.getRuntime().addShutdownHook(TalariaThread.daemon("talaria-shutdown", removal));
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** There is no counters file, or none with room. Of a directory that is no use all is said. */
  private void unseen(PrivateDirectory directory, String problem) {
    if (directory.problem() == null) {
      warn(
          "counters: "
              + problem
              + "; talaria ss does not show this process, or not all of its connections. Make room"
              + " there, or set talaria.dir to another file system.",
          null);
    }
  }

  /** The provider that programs see. */
  public SelectorProvider provider() {
    return provider;
  }

  /** The JDK's own provider. */
  public SelectorProvider jdk() {
    return jdk;
  }

  /** Whether connections may leave TCP at all. */
  public boolean enabled() {
    return config.enabled();
  }

  /**
   * Marks a new channel of the JDK's that will connect, if a peer in another network namespace is
   * to know its packets: by a time to live that no system gives its packets by itself.
   *
   * @return the time to live, or 0 if none was set
   */
  public int mark(SocketChannel control) {
    if (!config.sharesNamespaces()) {
      return 0;
    }
    int ttl = MIN_TTL + ThreadLocalRandom.current().nextInt(TTLS);
    return JdkTtl.set(control, ttl) ? ttl : 0;
  }

  /** Whether the connections of a service may leave TCP, as far as its port says. */
  public boolean wants(int port) {
    return config.ports().have(port);
  }

  /** How many reads and writes TCP carries before a client connection requests its upgrade. */
  public int upgradeAfter() {
    return config.upgradeAfter();
  }

  /** The transports that are asked for, in order of preference. */
  public List<TransportProvider> transports() {
    return transports;
  }

  /** What has connections find their peers. */
  public Negotiator negotiator() {
    return negotiator;
  }

  /** What this process counts, for all to see. */
  public ProcessCounters counters() {
    return counters;
  }

  /** What looks after threads that sleep on doorbells. */
  public SleepAudit audit() {
    return audit;
  }

  /** How long threads spin before they sleep. */
  public Spinning spinning() {
    return spinning;
  }

  /** Has the negotiation thread do something now and then until it says that it is done. */
  public void repeat(BooleanSupplier done) {
    negotiator.repeat(done::getAsBoolean);
  }

  /**
   * As the other.
   *
   * @param givenUp is done instead, on the same thread, if that fails again and again
   */
  public void repeat(BooleanSupplier done, Runnable givenUp) {
    negotiator.repeat(done::getAsBoolean, givenUp);
  }

  /** Work of a channel, which touches shared memory. */
  @FunctionalInterface
  public interface Work<E extends Exception> {
    void run() throws E;
  }

  /**
   * Does work that is on no hot path and may be done twice: once more if shared memory turned out
   * to be gone. No lock may be held for which the negotiation thread waits.
   */
  public <E extends Exception> void guarded(Work<E> work) throws E {
    try {
      work.run();
      Faults.take();
    } catch (InternalError e) {
      examine(e);
      work.run();
    }
  }

  /**
   * Fails the streams whose memory is gone: see {@link Faults}.
   *
   * @throws InternalError the one given, if there is no such stream
   */
  public void examine(InternalError error) {
    if (!negotiator.examine()) {
      throw error;
    }
  }

  /**
   * Logs the first connection with a reason; the others are in the counters. Any thread; the work
   * is done on the negotiation thread.
   */
  public void connectionIs(Reason reason, Object connection) {
    if (noticed.add(reason)) {
      negotiator.execute(() -> tell(reason, "connection " + connection));
    }
  }

  /** Logs a listener. Negotiation thread. */
  public void listenerIs(Reason reason, Object address) {
    tell(reason, "listener " + address);
  }

  /** What is in order is for those who ask for it: programs keep what they print to themselves. */
  private void tell(Reason reason, String what) {
    String line = what + " is " + reason.code() + ": " + reason.sentence();
    if (!IN_ORDER.contains(reason) && !isTold(reason)) {
      warn(line, null);
    } else if (isNew(line)) {
      Log.debug(line);
    }
  }

  /** Whether the user has been told at the start why a transport gives this reason. */
  private boolean isTold(Reason reason) {
    return reason == Reason.NO_UCX
        && transports.stream().anyMatch(transport -> ToldProblems.has(transport.problem()));
  }

  /** Tells that something does not work. */
  private void warn(String line, Throwable cause) {
    if (!isNew(line)) {
      return;
    }
    if (cause == null && ToldProblems.isIn(line)) {
      Log.debug(line);
    } else {
      Log.warning(line, cause);
    }
  }

  /** Each text is logged once in the life of the process. */
  private boolean isNew(String line) {
    return logged.size() < MAX_LINES && logged.add(line);
  }
}
