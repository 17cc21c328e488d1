// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.EventDescriptor;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.transport.EndedLinks;
import io.talaria.mpj.device.transport.FrameTransport;
import io.talaria.mpj.device.transport.MissingTransportException;
import io.talaria.verbs.Access;
import io.talaria.verbs.ActivePort;
import io.talaria.verbs.CompletionChannel;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.DeviceAttributes;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.Path;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.Status;
import io.talaria.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A rank's port of an RDMA device, and a queue pair to each rank that it communicates with.
 *
 * <p>Two ranks tell each other of their queue pairs over a connection of {@link Links}, which both
 * prove to be of the job for. A rank sends when the peer has said that its queue pair receives. The
 * connection stays, without traffic: when it ends, the peer is gone. A rank looks at it now and
 * then, and before it sleeps.
 *
 * <p>All queue pairs complete into one queue, which {@link #round} polls; no thread belongs to it.
 */
public final class VerbsFrameTransport implements FrameTransport {
  /** Memory of the connections that the queue pairs are set up by, bytes each way. */
  public static final int SETUP_BUFFER_BYTES = 4096;

  private static final int LONGEST_PAYLOAD = 16 << 10;
  private static final int MIN_WINDOW = 4;
  private static final int BATCH = 32;
  private static final int MAX_READS = 16;
  private static final int MAX_REGISTRATIONS = 256;

  /** A message is read in pieces: what is sent after one is over after it. */
  private static final int LONGEST_READ = 1 << 20;

  private static final int LOOK_AT_LINKS_EVERY = 8192; // a power of two

  /** A peer that computes may answer late; the others must not wait for looks at its connection. */
  private static final int LOOK_WHILE_SETTING_UP = 64; // a power of two

  private static final long LOOK_AT_LINKS_NS = 20_000_000;
  private static final long SETTING_UP_NS = 1_000_000;

  private final int rank;
  private final int size;
  private final Links lifelines;
  private final int window;
  private final int longestFrame;
  private final long creditBytes;
  private final ActivePort port;

  /** The longest packet of the port. */
  private final int mtuBytes;

  private final Context context;
  private final int readsIn;
  private final int readsOut;
  private final ProtectionDomain domain;
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions completions = Completions.allocate(BATCH);
  private final EventDescriptor doorbell = new EventDescriptor();
  private final Epoll sleeper = new Epoll();
  private final VerbsLink[] links;
  private final List<VerbsLink> open = new ArrayList<>();
  private final List<VerbsLink> owing = new ArrayList<>();
  private final EndedLinks<VerbsLink> endedLinks;
  private final Consumer<VerbsLink> abandon = VerbsLink::abandon; // made once
  private final Lives lives = new Lives();
  private Peers peers;
  private volatile Runnable news = () -> {};

  /** Whether connections were made that nobody has looked at. */
  private volatile boolean connections;

  private final Regions regions = new Regions();

  /** Null: no memory of the program is registered. */
  private final RegistrationCache<MemoryRegion> registrations;

  private final int longestRead;

  /** Links that are not ready yet. */
  private int settingUp;

  /** Completions that were taken and not worked off; negative: the queue is lost. */
  private int taken;

  private boolean armed;
  private int rounds;
  private long lookedNs;
  private boolean closed;

  /**
   * Opens a port.
   *
   * @param rank of this process
   * @param size ranks of the job
   * @param lifelines with a buffer of {@link #SETUP_BUFFER_BYTES}; closed with this, also if this
   *     cannot be made
   * @param portName such as {@code mlx5_0} or {@code mlx5_0:1}; null for the first that is active
   * @param bufferBytes of registered memory each way for each rank that it communicates with, a
   *     power of two from 4096; a quarter is the longest frame, but at most 16 KiB
   * @param creditBytes credit of a pair of ranks
   * @param registeredBytes how much memory of the program stays registered at most; 0: none is, and
   *     large messages are copied
   * @param graceNs how long after the end of a link operations fail, nanoseconds: meanwhile the
   *     launcher, who knows more, may end the job
   * @throws MissingTransportException if there is no port that can be used; the message says what
   *     to do
   */
  public VerbsFrameTransport(
      int rank,
      int size,
      Links lifelines,
      String portName,
      int bufferBytes,
      long creditBytes,
      long registeredBytes,
      long graceNs)
      throws MissingTransportException {
    this.rank = rank;
    this.size = size;
    this.lifelines = lifelines;
    this.creditBytes = creditBytes;
    longestFrame = Math.min(bufferBytes / 4, Frames.room(LONGEST_PAYLOAD));
    window = Math.max(MIN_WINDOW, bufferBytes / longestFrame);
    links = new VerbsLink[size];
    endedLinks = new EndedLinks<>(graceNs);
    ProtectionDomain ownDomain = null;
    CompletionChannel ownChannel = null;
    ActivePort found = null;
    try {
      found = openPort(portName);
      port = found;
      context = port.context();
      mtuBytes = port.mtuBytes();
      DeviceAttributes device = context.attributes();
      boolean reads = registeredBytes > 0;
      readsIn = reads ? Math.clamp(device.maxReadsIn(), 0, MAX_READS) : 0;
      readsOut = reads ? Math.clamp(device.maxReadsOut(), 0, MAX_READS) : 0;
      longestRead = Math.clamp(context.port(port.number()).maxMessageBytes(), 1, LONGEST_READ);
      ownDomain = context.protectionDomain();
      domain = ownDomain;
      ownChannel = context.completionChannel();
      channel = ownChannel;
      long wanted = Math.max(1L, size - 1) * VerbsLink.completions(window);
      queue =
          context.completionQueue(
              (int) Math.min(wanted, Math.max(1, device.maxCompletions())), channel, 0);
    } catch (VerbsException | MissingTransportException e) {
      close(ownChannel);
      close(ownDomain);
      close(found == null ? null : found.context());
      close(sleeper);
      close(doorbell);
      lifelines.close();
      throw e instanceof MissingTransportException missing ? missing : missing(e.getMessage(), e);
    }
    registrations =
        registeredBytes > 0
            ? new RegistrationCache<>(regions, registeredBytes, MAX_REGISTRATIONS)
            : null;
    sleeper.add(channel.descriptor());
    sleeper.add(doorbell.descriptor());
    lifelines.onNews(this::connectionsCame);
  }

  private static ActivePort openPort(String name) throws MissingTransportException {
    try {
      return ActivePort.open(name == null ? "" : name);
    } catch (IllegalArgumentException e) {
      throw missing("talaria.mpj.hca=" + e.getMessage(), e);
    } catch (IOException e) {
      throw missing(e.getMessage(), e.getCause());
    }
  }

  private static MissingTransportException missing(String message, Throwable cause) {
    return new MissingTransportException("RDMA verbs", message, cause);
  }

  private static void close(AutoCloseable part) {
    try {
      if (part != null) {
        part.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String rankAddress() {
    return lifelines.rankAddress();
  }

  @Override
  public void rankAddresses(List<String> ofAll) {
    lifelines.rankAddresses(ofAll);
  }

  @Override
  public void onNews(Runnable action) {
    news = action;
  }

  private void connectionsCame() {
    connections = true;
    news.run();
  }

  @Override
  public int longestPayload() {
    return longestFrame - Frames.HEADER;
  }

  @Override
  public String name() {
    return "ibvdev";
  }

  // For the links.

  MemoryRegion allocate(long bytes) {
    return domain.allocate(bytes, Access.LOCAL_WRITE);
  }

  /** Registers memory of the program, for peers to read and for this rank to read into. */
  private final class Regions implements RegistrationCache.Registrar<MemoryRegion> {
    private final Set<MemoryRegion> registered = ConcurrentHashMap.newKeySet();

    @Override
    public MemoryRegion register(MemorySegment memory) {
      MemoryRegion region =
          memory.isReadOnly()
              ? domain.register(memory, Access.REMOTE_READ)
              : domain.register(memory, Access.LOCAL_WRITE, Access.REMOTE_READ);
      registered.add(region);
      return region;
    }

    @Override
    public void unregister(MemoryRegion region) {
      if (registered.remove(region)) {
        region.closeIdle();
      }
    }

    /** At the end, when no queue pair is left: also what operations still hold. */
    private void close() {
      registered.forEach(MemoryRegion::closeIdle);
      registered.clear();
    }
  }

  RegistrationCache<MemoryRegion> registrations() {
    return registrations;
  }

  int longestRead() {
    return longestRead;
  }

  void fetched(long id) {
    peers.fetched(id);
  }

  QueuePair queuePair(int sends, int receives, int inlineBytes) {
    QueuePair.Builder builder =
        QueuePair.rc(domain).send(queue, sends).receive(queue, receives).inline(inlineBytes);
    try {
      return builder.open();
    } catch (VerbsException e) {
      return builder.inline(0).open(); // Not every device can do it.
    }
  }

  SendRequests sendRequests(int count) {
    return SendRequests.allocate(domain, count, 1);
  }

  ReceiveRequests receiveRequests(int count) {
    return ReceiveRequests.allocate(domain, count, 1);
  }

  QueuePairAddress initialize(QueuePair queuePair, int packetNumber) {
    queuePair.initialize(port.number(), Access.REMOTE_READ);
    return queuePair.address(port.path(), packetNumber);
  }

  Introduction introduction(QueuePairAddress own, int frames, int frameBytes) {
    return new Introduction(own, mtuBytes, frames, frameBytes, readsIn);
  }

  /** Connects; gives how many reads may be under way to the peer. */
  int connect(QueuePair queuePair, QueuePairAddress own, Introduction theirs) {
    int reads = Math.min(readsOut, theirs.reads());
    Path path =
        port.path().withMtu(Math.min(mtuBytes, theirs.mtuBytes())).withReads(reads, readsIn);
    queuePair.readyToReceive(theirs.address(), path);
    queuePair.readyToSend(own.packetNumber(), path);
    return reads;
  }

  void connected() {
    settingUp--;
  }

  void owing(VerbsLink link) {
    owing.add(link);
  }

  void ended(VerbsLink link, String why) {
    if (!link.isReady()) {
      settingUp--;
    }
    endedLinks.add(link);
    lifelines.end(link.peer(), why);
  }

  // Under the engine's lock.

  @Override
  public FrameOutput connect(int peer) {
    return link(peer).output();
  }

  private VerbsLink link(int peer) {
    VerbsLink link = links[peer];
    if (link == null) {
      link = new VerbsLink(peer, this, window, longestFrame, creditBytes);
      links[peer] = link;
      open.add(link);
      settingUp++;
      link.open(lifelines.connect(peer));
    }
    return link;
  }

  /** What happens to the connections. */
  private final class Lives implements Peers {
    @Override
    public void arrived(int peer, FrameInput input) {
      VerbsLink link = link(peer);
      link.setup(input);
      peers.arrived(peer, link.input());
    }

    @Override
    public void gone(int peer, RankGoneException why) {
      VerbsLink link = link(peer);
      link.end(why.getMessage());
      link.abandon();
      peers.gone(peer, why);
    }

    @Override
    public void fetched(long id) {
      throw new IllegalStateException("connections fetch nothing");
    }
  }

  @Override
  public int round(Peers told) {
    peers = told;
    int left = work();
    int every = settingUp > 0 ? LOOK_WHILE_SETTING_UP : LOOK_AT_LINKS_EVERY;
    if (connections || (++rounds & (every - 1)) == 0) {
      boolean ignored = lookAtLinks();
    }
    if (!owing.isEmpty()) {
      payWhatIsOwed();
    }
    endedLinks.report(peers, abandon);
    return left;
  }

  /** Works off completions: those that were taken, and what there is. How many were of sends. */
  private int work() {
    int count = taken != 0 ? taken : queue.poll(completions);
    int left = 0;
    taken = 0;
    while (count > 0) {
      for (int i = 0; i < count; i++) {
        left += completed(i) ? 1 : 0;
      }
      if (count < BATCH) {
        return left;
      }
      count = queue.poll(completions);
    }
    if (count < 0) {
      lost();
    }
    return left;
  }

  /** Whether it was of a send. */
  private boolean completed(int i) {
    long id = completions.id(i);
    VerbsLink link = links[VerbsLink.peerOf(id)];
    int status = completions.status(i);
    int kind = VerbsLink.kindOf(id);
    if (status != Status.SUCCESS) {
      link.end("verbs say: " + Status.text(status));
    } else if (kind == VerbsLink.RECEIVE) {
      link.received(VerbsLink.indexOf(id), completions.bytes(i), completions.immediate(i));
      return false;
    } else {
      link.sent(kind, VerbsLink.indexOf(id));
    }
    return true;
  }

  private void lost() {
    taken = -1;
    for (VerbsLink link : open) {
      link.end("the completion queue is lost");
    }
  }

  /** Takes over connections, and reads them; whether anything has happened. */
  private boolean lookAtLinks() {
    boolean happened = connections;
    connections = false;
    lookedNs = System.nanoTime();
    lifelines.round(lives);
    // Links may come to the end of the list meanwhile, none goes.
    for (int i = 0; i < open.size(); i++) {
      VerbsLink link = open.get(i);
      happened |= link.readSetup(lifelines.connect(link.peer()));
    }
    return happened;
  }

  private void payWhatIsOwed() {
    for (int i = owing.size() - 1; i >= 0; i--) {
      VerbsLink link = owing.remove(i);
      link.owes = false;
      link.pay();
    }
  }

  @Override
  public void broken(int peer, String what) {
    link(peer).end("it sent " + what);
  }

  @Override
  public void ended(int peer, String why) {
    if (links[peer] == null) {
      link(peer).end(why);
    } else {
      lifelines.ended(peer, why); // It may have died before there was a connection.
    }
  }

  @Override
  public boolean arm() {
    long now = System.nanoTime();
    if ((settingUp > 0 || now - lookedNs > LOOK_AT_LINKS_NS) && lookAtLinks()) {
      return false;
    }
    if (armed && channel.drop()) {
      armed = false;
    }
    if (taken == 0) {
      taken = queue.arm(false, completions);
      armed = true;
    }
    return taken <= 0;
  }

  @Override
  public void disarm() {
    if (armed && channel.drop()) {
      armed = false;
    }
    doorbell.clear();
  }

  @Override
  public void sleep(long limitNs) {
    long limit = settingUp > 0 ? Math.min(limitNs, SETTING_UP_NS) : limitNs;
    boolean ignored = sleeper.await((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(limit)));
  }

  @Override
  public void wake() {
    doorbell.signal();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (VerbsLink link : open) {
      link.abandon();
    }
    regions.close();
    queue.close();
    channel.close();
    domain.close();
    context.close();
    sleeper.close();
    doorbell.close();
    lifelines.close();
  }

  /** What was registered, as text for the user; empty if nothing was. */
  public String registered() {
    if (registrations == null) {
      return "";
    }
    RegistrationCache.Counts counts = registrations.counts();
    return counts.misses() == 0 ? "" : counts.toString();
  }

  @Override
  public String toString() {
    return "rank " + rank + " of " + size + " by " + port + " to " + open;
  }
}
