// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.verbs.Access;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.DeviceAttributes;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.Gid;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.Path;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * What one side of a connection has of verbs: the first device, a queue pair, and a region to send
 * from and one to receive into. Requests are in flight up to a window; each is signalled. Confined
 * to the thread that opens it, which closes it.
 */
final class VerbsSide implements AutoCloseable {
  /** How many operations are in flight at most, as with UCX. */
  static final int WINDOW = 32;

  /** How many receive requests are posted. */
  private static final int RECEIVES = 128;

  private static final int PORT = 1;
  private static final int MAX_READS = 16;

  /** How often one looks before leaving the core to others. */
  private static final int SPINS = 1_024;

  private final boolean yields;
  private Context context;
  private ProtectionDomain domain;
  private CompletionQueue sent;
  private CompletionQueue received;
  private MemoryRegion out;
  private MemoryRegion in;
  private QueuePair queuePair;
  private QueuePairAddress own;
  private Path path;
  private SendRequests send;
  private ReceiveRequests receive;
  private Completions completions;
  private int receiveBytes;
  private int underWay;
  private int looks = SPINS;
  private long remoteAddress;
  private int remoteKey;

  /**
   * What the other side must know, as a line of JSON has it.
   *
   * @param number of the queue pair
   * @param packet the number of its first packet
   * @param lid of its port
   * @param gidPrefix of its port
   * @param gidIdentifier of its port
   * @param mtu the longest packet, in bytes
   * @param reads how many reads it works on at once
   * @param address of the memory that may be reached
   * @param key to that
   */
  record Reach(
      int number,
      int packet,
      int lid,
      long gidPrefix,
      long gidIdentifier,
      int mtu,
      int reads,
      long address,
      int key) {}

  private VerbsSide(boolean yields) {
    this.yields = yields;
  }

  /**
   * Opens a side.
   *
   * @param maxBytes the largest message
   * @param receives whether messages are received, and not only memory reached
   * @param yields whether to leave the core to others when there is nothing to do
   */
  static VerbsSide open(int maxBytes, boolean receives, boolean yields) {
    VerbsSide side = new VerbsSide(yields);
    try {
      side.begin(maxBytes, receives);
      return side;
    } catch (RuntimeException e) {
      side.close();
      throw e;
    }
  }

  private void begin(int maxBytes, boolean receives) {
    try (DeviceList devices = DeviceList.open()) {
      context = devices.first().open();
    }
    DeviceAttributes device = context.attributes();
    int reads = Math.clamp(device.maxReadsIn(), 1, MAX_READS);
    domain = context.protectionDomain();
    sent = context.completionQueue(WINDOW);
    received = context.completionQueue(RECEIVES);
    out = domain.allocate(maxBytes, Access.LOCAL_WRITE);
    in = domain.allocate(maxBytes, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
    queuePair = QueuePair.rc(domain).send(sent, WINDOW).receive(received, RECEIVES).open();
    int gid = context.preferredGid(PORT).map(entry -> entry.index()).orElse(0);
    path = Path.by(PORT, gid).withMtu(context.port(PORT).activeMtuBytes()).withReads(reads, reads);
    own = queuePair.address(path, 0);
    send = SendRequests.allocate(domain, 1, 1);
    receive = ReceiveRequests.allocate(domain, 1, 1);
    completions = Completions.allocate(WINDOW);
    receiveBytes = receives ? maxBytes : 0;
  }

  /** Returns how the other side reaches this one. */
  Reach reach() {
    return new Reach(
        own.number(),
        own.packetNumber(),
        own.lid(),
        own.gid().prefix(),
        own.gid().identifier(),
        path.mtuBytes(),
        path.readsIn(),
        in.remoteAddress(),
        in.remoteKey());
  }

  /** Connects to the other side. Its first message may come now. */
  void connect(Reach peer) throws IOException {
    Path common =
        path.withMtu(Math.min(path.mtuBytes(), peer.mtu()))
            .withReads(Math.min(path.readsOut(), peer.reads()), path.readsIn());
    remoteAddress = peer.address();
    remoteKey = peer.key();
    queuePair.initialize(PORT, Access.REMOTE_READ, Access.REMOTE_WRITE);
    for (int i = 0; receiveBytes > 0 && i < RECEIVES; i++) {
      postReceive();
    }
    queuePair.readyToReceive(
        new QueuePairAddress(
            peer.number(),
            peer.packet(),
            peer.lid(),
            new Gid(peer.gidPrefix(), peer.gidIdentifier())),
        common);
    queuePair.readyToSend(own.packetNumber(), common);
  }

  private void postReceive() throws IOException {
    receive.request(0).local(in, 0, receiveBytes);
    check(queuePair.post(receive, 0, 1), "ibv_post_recv");
  }

  private static void check(int status, String what) throws IOException {
    if (status < 0) {
      throw new IOException(what + " failed: " + -status);
    }
  }

  /** Returns what is sent. */
  MemorySegment out() {
    return out.memory();
  }

  /** Returns what is received into; the peer reaches it, too. */
  MemorySegment in() {
    return in.memory();
  }

  /** Begins to send a message. */
  void send(int bytes) throws IOException {
    send.send(0).local(out, 0, bytes).signaled();
    post();
  }

  /** Begins to write into the peer's memory. */
  void write(int bytes) throws IOException {
    send.write(0).local(out, 0, bytes).remote(remoteAddress, remoteKey).signaled();
    post();
  }

  /** Begins to read the peer's memory. */
  void read(int bytes) throws IOException {
    send.read(0).local(in, 0, bytes).remote(remoteAddress, remoteKey).signaled();
    post();
  }

  private void post() throws IOException {
    while (underWay == WINDOW) {
      takeSent();
    }
    check(queuePair.post(send, 0, 1), "ibv_post_send");
    underWay++;
  }

  private void takeSent() throws IOException {
    underWay -= take(sent);
  }

  private int take(CompletionQueue queue) throws IOException {
    int count = queue.poll(completions);
    check(count, "ibv_poll_cq");
    for (int i = 0; i < count; i++) {
      int status = completions.status(i);
      if (status != Status.SUCCESS) {
        throw new IOException("a request failed: " + Status.text(status));
      }
    }
    if (count == 0) {
      look();
    }
    return count;
  }

  /** Waits until all that was begun is done. */
  void flush() throws IOException {
    while (underWay > 0) {
      takeSent();
    }
  }

  /** Waits for messages; returns how many have come, and posts as many requests again. */
  int receive() throws IOException {
    int count;
    do {
      count = take(received);
    } while (count == 0);
    for (int i = 0; i < count; i++) {
      postReceive();
    }
    return count;
  }

  /** Nothing was found: now and then the core is left to others. */
  void look() throws IOException {
    if (--looks > 0) {
      Thread.onSpinWait();
      return;
    }
    looks = yields ? 1 : SPINS;
    if (yields) {
      Thread.yield();
    }
    if (Thread.currentThread().isInterrupted()) {
      throw new IOException("interrupted: the other side does not answer");
    }
  }

  /** Closes all; does nothing if it is closed. */
  @Override
  public void close() {
    for (AutoCloseable each : new AutoCloseable[] {queuePair, in, out, sent, received, domain}) {
      close(each);
    }
    close(context);
  }

  private static void close(AutoCloseable each) {
    if (each != null) {
      try {
        each.close();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
