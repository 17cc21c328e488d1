// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.ffi.Libc;
import io.talaria.messaging.transport.DescriptorWatcher;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.NetworkTransport;
import io.talaria.ucx.Context;
import io.talaria.ucx.Feature;
import io.talaria.ucx.transport.OwnedWorker;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Map;

/**
 * Owns a node's UCX worker. {@link UcxTurns} has what threads do with it, {@link UcxHandshakes} the
 * processes that it reaches, {@link DescriptorWatcher} the thread that sleeps on it.
 */
public final class UcxTransport implements NetworkTransport {
  /** The system property that permits UCX's own TCP; for tests. */
  private static final String BY_TCP = "talaria.ucx.tcp";

  /** A channel that has received nothing for so long does not work. */
  private static final long DUMB_NS = 5_000_000_000L;

  private final OwnedWorker owned;
  private final DescriptorWatcher watcher;
  private final UcxTurns turns;
  private final UcxHandshakes handshakes;

  private UcxTransport(OwnedWorker owned, DescriptorWatcher watcher) {
    this.owned = owned;
    this.watcher = watcher;
    turns = new UcxTurns(owned.worker(), watcher);
    handshakes = new UcxHandshakes(turns, owned.address().toBytes());
  }

  /**
   * Loads UCX and opens a worker. Takes some hundred milliseconds, some megabytes and descriptors.
   *
   * @param thread the name of the thread that it starts
   * @param connections the expected number of connections
   * @return the transport, which the caller must close
   * @throws IOException if that is not possible; the message says what to do
   */
  public static NetworkTransport open(String thread, int connections) throws IOException {
    // UCX's own TCP does not use the key and is no faster than transport tcp.
    boolean leaveOutTcp = !Boolean.getBoolean(BY_TCP) && Libc.getenv("UCX_TLS").isEmpty();
    OwnedWorker owned =
        OwnedWorker.open(
            Context.Options.of(Feature.STREAM, Feature.WAKEUP).estimatedEndpoints(connections),
            leaveOutTcp ? Map.of("TLS", "^tcp") : Map.of(),
            OwnedWorker.Deaths.TOLD);
    try {
      return new UcxTransport(owned, new DescriptorWatcher(owned.eventDescriptor(), thread));
    } catch (IllegalStateException e) { // no descriptor is free
      owned.close();
      throw OwnedWorker.unusable(e);
    }
  }

  @Override
  public void begin(Runnable wake, boolean looks) {
    turns.begin(wake, looks);
    watcher.start(wake);
  }

  UcxTurns turns() {
    return turns;
  }

  @Override
  public boolean bring() {
    return turns.bring();
  }

  @Override
  public boolean send() {
    return turns.send();
  }

  @Override
  public boolean arm() {
    return turns.arm();
  }

  @Override
  public int maxSleepMs() {
    return turns.maxSleepMs();
  }

  @Override
  public byte[] offer(int id) {
    return handshakes.offer(id);
  }

  @Override
  public byte[] accept(int id, long incarnation, long own, byte[] offer) throws IOException {
    return handshakes.accept(id, incarnation, own, offer);
  }

  @Override
  public void accepted(int id, long incarnation, byte[] offer, byte[] answer) throws IOException {
    handshakes.accepted(id, incarnation, answer);
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
    turns.enterOrThrow();
    try {
      UcxChannel channel = handshakes.channel(id);
      String how = why + ", by " + channel.transports();
      UcxLink link = new UcxLink(this, channel, owner, number, session, how, capacity);
      turns.add(link);
      channel.begin(link);
      return link;
    } finally {
      turns.exit();
    }
  }

  /** Removes a connection that has ended and that no thread uses. Conductor. */
  void left(UcxLink link) {
    if (!turns.enterWaiting()) {
      return;
    }
    try {
      turns.remove(link);
      UcxChannel channel = link.channel();
      if (channel.end(link) && !link.endedInOrder()) {
        // What still arrives on this channel is useless, whatever process is at the other end.
        if (!channel.heard() && link.ageNs() > DUMB_NS) {
          handshakes.nothingCame(channel);
        }
        channel.close();
      }
    } finally {
      turns.exit();
    }
  }

  @Override
  public String toString() {
    return turns.toString();
  }

  @Override
  public void close() {
    if (turns.isClosed()) {
      return;
    }
    turns.close();
    watcher.stop();
    watcher.join();
    owned.close();
    watcher.close();
  }
}
