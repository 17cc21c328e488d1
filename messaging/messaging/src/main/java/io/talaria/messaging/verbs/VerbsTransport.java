// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.messaging.IdleStrategy;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.verbs.VerbsLayout.Introduction;
import io.talaria.nio.spin.Spinning;
import io.talaria.verbs.ActivePort;
import io.talaria.verbs.AsyncEvent;
import io.talaria.verbs.DeviceAttributes;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.Path;
import io.talaria.verbs.PortAttributes;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.VerbsException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Owns a node's RDMA port, its queues and its queue pairs. */
public final class VerbsTransport implements NetworkTransport {
  /** The system property that names a device, or a device and a port, such as mlx5_0:1. */
  private static final String PORT = "talaria.verbs.hca";

  private static final int INLINE_BYTES = 220;

  /** Connections that end, and handshakes, beside those that may be open. */
  private static final int SPARE_CONNECTIONS = 64;

  private final ActivePort port;
  private final ProtectionDomain domain;
  private final ChannelTable table;
  private final VerbsReceiver receiver;
  private final VerbsSender sender;
  private final int[] ringBytes;
  private final SecureRandom random = new SecureRandom();

  /** Channels that have no link yet, by the numbers of their queue pairs. Conductor. */
  private final Map<Integer, VerbsChannel> handshakes = new HashMap<>();

  /** Why no more connections are made, or null. */
  private volatile String failure;

  private boolean closed;

  private VerbsTransport(
      ActivePort port,
      UnaryOperator<String> threadName,
      int connections,
      int[] ringBytes,
      IdleStrategy idleStrategy,
      Spinning spinning) {
    this.port = port;
    this.ringBytes = ringBytes.clone();
    int most = connections + SPARE_CONNECTIONS;
    table = new ChannelTable(most);
    DeviceAttributes device = port.context().attributes();
    int completions =
        (int) Math.min((long) most * VerbsChannel.DEPTH, Math.max(1, device.maxCompletions()));
    ProtectionDomain opened = port.context().protectionDomain();
    VerbsReceiver receiving = null;
    try {
      receiving =
          new VerbsReceiver(port, opened, table, threadName.apply("verbs"), most, this::lost);
      sender =
          new VerbsSender(
              this,
              port,
              table,
              completions,
              threadName.apply("verbs-send"),
              idleStrategy,
              spinning);
    } catch (RuntimeException e) {
      if (receiving != null) {
        receiving.close();
      }
      opened.close();
      throw e;
    }
    domain = opened;
    receiver = receiving;
  }

  /**
   * Loads libibverbs, and opens the first port that is active, or the one that the system property
   * {@code talaria.verbs.hca} names.
   *
   * @param threadName makes the name of a thread of a part
   * @param connections the maximum number of connections
   * @param ringBytes the maximum capacity of the ring of each priority
   * @param idleStrategy what the thread that sends does while there is nothing to send
   * @param spinning of the node's polling threads
   * @return the transport, which the caller must close
   * @throws IOException if that is not possible; the message says what to do
   */
  public static NetworkTransport open(
      UnaryOperator<String> threadName,
      int connections,
      int[] ringBytes,
      IdleStrategy idleStrategy,
      Spinning spinning)
      throws IOException {
    ActivePort port = openPort();
    try {
      return new VerbsTransport(port, threadName, connections, ringBytes, idleStrategy, spinning);
    } catch (VerbsException | IllegalStateException e) { // refused, or no descriptor is free
      port.context().close();
      throw new IOException(e.getMessage(), e);
    }
  }

  private static ActivePort openPort() throws IOException {
    try {
      return ActivePort.open(System.getProperty(PORT, ""));
    } catch (IllegalArgumentException e) {
      throw new IOException(PORT + "=" + e.getMessage(), e);
    }
  }

  private void requireActive() throws IOException {
    try {
      PortAttributes.State state = port.context().port(port.number()).state();
      if (state != PortAttributes.State.ACTIVE) {
        throw new IOException("port " + port + " is " + state);
      }
    } catch (VerbsException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  VerbsReceiver receiver() {
    return receiver;
  }

  VerbsSender sender() {
    return sender;
  }

  @Override
  public void begin(Runnable wake, boolean looks) {
    receiver.begin(wake);
    sender.begin();
  }

  @Override
  public boolean bring() {
    sender.pollerIs(Thread.currentThread());
    return receiver.bring();
  }

  @Override
  public boolean send() {
    return sender.sendLeft();
  }

  @Override
  public boolean arm() {
    return !sender.isLeft() && receiver.arm() && !sender.isLeft();
  }

  /** All that can happen wakes the poller. */
  @Override
  public int maxSleepMs() {
    return 0;
  }

  // ---- handshakes; conductor

  @Override
  public byte[] offer(int id) throws IOException {
    VerbsChannel channel = create();
    return new Introduction(channel.address(), port.mtuBytes()).bytes();
  }

  @Override
  public byte[] accept(int id, long incarnation, long own, byte[] offer) throws IOException {
    if (offer.length == 0) {
      throw new IOException("it does not want to");
    }
    Introduction theirs = Introduction.of(offer);
    VerbsChannel channel = create();
    try {
      connect(channel, theirs);
      return new Introduction(channel.address(), port.mtuBytes()).bytes();
    } catch (IOException e) {
      discard(channel);
      throw e;
    }
  }

  @Override
  public void accepted(int id, long incarnation, byte[] offer, byte[] response) throws IOException {
    connect(pending(offer), Introduction.of(response));
  }

  @Override
  public void release(byte[] told) {
    try {
      VerbsChannel channel = handshakes.get(Introduction.of(told).address().number());
      if (channel != null) {
        discard(channel);
      }
    } catch (ProtocolException e) {
      throw new IllegalArgumentException("this side has never told that", e);
    }
  }

  private VerbsChannel pending(byte[] told) throws IOException {
    VerbsChannel channel = handshakes.get(Introduction.of(told).address().number());
    if (channel == null) {
      throw new IOException("its queue pair does not exist");
    }
    return channel;
  }

  /** Opens a queue pair that can receive once it is connected. */
  private VerbsChannel create() throws IOException {
    if (failure != null) {
      throw new IOException(failure);
    }
    requireActive();
    int serial = table.nextSerial();
    boolean ignored = sender.reap(); // frees what closed queue pairs have reserved
    MemoryRegion slots = null;
    MemoryRegion[] rings = new MemoryRegion[RingPair.COUNT];
    QueuePair queuePair = null;
    try {
      slots = domain.allocate(VerbsChannel.SLOTS_BYTES);
      for (int i = 0; i < RingPair.COUNT; i++) {
        rings[i] = domain.allocate(RingLayout.bytes(ringBytes[i]));
      }
      queuePair = open();
      Path path = port.path();
      queuePair.initialize(port.number());
      VerbsChannel channel =
          new VerbsChannel(
              serial,
              queuePair,
              queuePair.address(path, random.nextInt(1 << 24)),
              slots,
              rings,
              SendRequests.allocate(domain, VerbsChannel.DEPTH, VerbsChannel.PIECES));
      receiver.add(channel);
      handshakes.put(channel.number(), channel);
      return channel;
    } catch (VerbsException | IllegalStateException | IOException e) {
      if (queuePair != null) {
        queuePair.close();
      }
      for (MemoryRegion each : new MemoryRegion[] {slots, rings[0], rings[1]}) {
        if (each != null) {
          each.closeIdle();
        }
      }
      throw e instanceof IOException io ? io : new IOException(e.getMessage(), e);
    }
  }

  private QueuePair open() {
    QueuePair.Builder builder =
        QueuePair.rc(domain)
            .send(sender.queue(), VerbsChannel.DEPTH)
            .receive(receiver.queue(), receiver.shared())
            .pieces(VerbsChannel.PIECES, 1)
            .inline(INLINE_BYTES);
    try {
      return builder.open();
    } catch (VerbsException e) {
      return builder.inline(0).open(); // not every device can do it
    }
  }

  private void connect(VerbsChannel channel, Introduction theirs) throws IOException {
    try {
      Path path = port.path().withMtu(Math.min(port.mtuBytes(), theirs.mtuBytes()));
      channel.queuePair().readyToReceive(theirs.address(), path);
      channel.queuePair().readyToSend(channel.address().packetNumber(), path);
    } catch (VerbsException e) {
      throw new IOException("its queue pair cannot be reached: " + e.getMessage(), e);
    }
  }

  @Override
  public Link link(
      LinkOwner owner,
      int id,
      int number,
      byte[] told,
      SocketChannel session,
      String why,
      int[] capacity)
      throws IOException {
    VerbsChannel channel = pending(told);
    VerbsLink link =
        new VerbsLink(this, channel, owner, number, session, why + ", by " + port, capacity);
    receiver.begin(channel, link);
    handshakes.remove(channel.number());
    sender.wants(channel); // its thread arms the rings
    return link;
  }

  private void discard(VerbsChannel channel) {
    handshakes.remove(channel.number());
    remove(channel);
  }

  /** Closes a channel on which no thread sends. */
  void remove(VerbsChannel channel) {
    receiver.remove(channel);
    channel.closeMemory();
  }

  // ---- the end

  /** Nothing can be sent or received any more. */
  void lost(String why) {
    failure = why;
    endAll(why);
  }

  private void endAll(String why) {
    for (int i = 0; i < table.places(); i++) {
      VerbsChannel channel = table.atPlace(i);
      if (channel != null) {
        channel.end(why);
      }
    }
  }

  private void ifOpen(AsyncEvent event, Consumer<VerbsChannel> action) {
    event.ifQueuePair().map(each -> table.ofNumber(each.number())).ifPresent(action);
  }

  /** The device has told something. The thread that sends. */
  void deviceEvents() {
    try {
      for (Optional<AsyncEvent> next = port.context().pollAsync();
          next.isPresent();
          next = port.context().pollAsync()) {
        AsyncEvent event = next.get();
        switch (event.type()) {
          case PORT_ERROR -> {
            if (event.port() == port.number()) {
              receiver.drain();
              endAll("port " + port + " is down");
            }
          }
          case DEVICE_FATAL -> lost("the device has failed");
          case COMPLETION_QUEUE_ERROR -> lost("a completion queue has failed");
          case SHARED_RECEIVE_QUEUE_ERROR -> lost("the shared receive queue has failed");
          case LAST_REQUEST_REACHED -> ifOpen(event, VerbsChannel::tookLast);
          // One that only receives has no request of its own that would fail.
          case QUEUE_PAIR_FATAL, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR -> {
            receiver.drain();
            ifOpen(event, channel -> channel.end("the device says " + event.type()));
          }
          default -> {}
        }
      }
    } catch (VerbsException e) {
      lost(e.getMessage());
    }
  }

  @Override
  public String toString() {
    return port + ", " + receiver + ", " + sender;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    sender.stop();
    for (int i = 0; i < table.places(); i++) {
      VerbsChannel channel = table.atPlace(i);
      if (channel != null) {
        remove(channel);
      }
    }
    handshakes.clear();
    receiver.stop();
    sender.drain();
    sender.close();
    receiver.close();
    domain.close();
    port.context().close();
  }
}
