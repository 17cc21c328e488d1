// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.Upgrade;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Shared memory on one host, in plain JDK: needs nothing installed and calls no native code.
 *
 * <p>Bytes that {@code write} accepted are in memory that the peer has mapped, so they survive the
 * writer's end as a kernel buffer would. See {@link ConnectionLayout} and {@link PeerLayout} for
 * the memory, {@link ShmMessages} for what goes through the session.
 */
public final class ShmTransport implements TransportProvider {
  /** What {@code talaria.transports} calls it. */
  public static final String NAME = "shm";

  /** A larger ring is made only if so many times its size is free. */
  private static final int RESERVE = 4;

  /** What has to be free for a new connection, because its rings are made when it needs them. */
  private static final long ROOM_BYTES = 1 << 20;

  /** The same, for each connection of a pair of processes, up to so many. */
  private static final long ROOM_EACH_BYTES = 1 << 15;

  private static final int ROOM_FOR = 64;

  private static final long SWEEP_EVERY_NS = 1_000_000_000L;

  /** From so many words of ready bits on, a ready set wants summaries; fewer are read as fast. */
  private static final int SUMMARIZED_FROM = 32;

  /** Lower in tests. */
  int summarizedFrom = SUMMARIZED_FROM;

  /** Others in tests. */
  long roomBytes = ROOM_BYTES;

  /** Tells how many bytes are free where the files live; another in tests. */
  LongSupplier usableBytes;

  /**
   * How many were free when new connections asked last, less what has been taken for them since,
   * and the turn of the negotiation thread in which that was. Negotiation thread's.
   */
  private long freeBytes;

  private long freeIn = Peer.NO_TURN;

  private final PrivateDirectory directory;
  private final int ringBytes;
  private final int maxRingBytes;
  private final SharedFiles files;
  private long sweptAtNs = System.nanoTime() - SWEEP_EVERY_NS;
  private final BitSet readySets = new BitSet();

  /** Peers with which memory is shared. Negotiation thread's. */
  private final Set<ShmPeer> peers = new HashSet<>();

  /** Whether a stream may use a ring outside its page, so that it is to be looked at. */
  private volatile boolean anyOutside;

  /** Guarded by {@link #readySets}. */
  private long readySetsOpened;

  /**
   * @param directory where the files live until both sides have mapped them
   * @param ringBytes size of a new ring, a power of two
   * @param maxRingBytes what a ring may grow to, a power of two
   */
  public ShmTransport(PrivateDirectory directory, int ringBytes, int maxRingBytes) {
    this.directory = directory;
    this.ringBytes = ringBytes;
    this.maxRingBytes = maxRingBytes;
    files = new SharedFiles(directory);
    usableBytes = files::usableBytes;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public NioTransport kind() {
    return NioTransport.SHM;
  }

  @Override
  public Reason unavailable() {
    Reason reason = directory.prepare();
    if (reason == null && System.nanoTime() - sweptAtNs > SWEEP_EVERY_NS) {
      sweepPrepared();
    }
    return reason;
  }

  @Override
  public void exit() {
    files.removeAll();
  }

  /** Number of live mappings in this process, for those who watch. */
  public static long liveMappings() {
    return Mapping.live();
  }

  @Override
  public ReadySet openReadySet() {
    synchronized (readySets) {
      int index = readySets.nextClearBit(0);
      if (index == PeerLayout.READY_SETS) {
        return null;
      }
      readySets.set(index);
      return new ShmReadySet(this, index, readySetsOpened++, DoorbellPool.ofProcess());
    }
  }

  void closed(ShmReadySet readySet) {
    synchronized (readySets) {
      readySets.clear(readySet.index());
    }
  }

  @Override
  public ByteBuffer openPeer(Peer peer) throws TransportException {
    SharedFiles.Created<ByteBuffer> region = files.createCollected(PeerLayout.BYTES);
    ConnectionLayout.setRelease(region.mapping(), PeerLayout.MAGIC_OFFSET, PeerLayout.MAGIC);
    attach(peer, region.mapping(), region.id());
    return ByteBuffer.allocate(ShmMessages.REGION_BYTES).putLong(region.id()).flip();
  }

  @Override
  public void acceptPeer(Peer peer, ByteBuffer payload) throws TransportException {
    if (payload.remaining() != ShmMessages.REGION_BYTES) {
      throw new TransportException(
          Reason.PROTOCOL, "a region of " + payload.remaining() + " bytes");
    }
    long id = payload.getLong();
    ByteBuffer region = files.openCollected(id, PeerLayout.BYTES, peer.pid());
    if (ConnectionLayout.getAcquire(region, PeerLayout.MAGIC_OFFSET) != PeerLayout.MAGIC) {
      throw new TransportException(Reason.PROTOCOL, "a region without its header");
    }
    attach(peer, region, id);
  }

  private void attach(Peer peer, ByteBuffer region, long regionFile) {
    ShmPeer made = new ShmPeer(peer, this, files, region, regionFile);
    peers.add(made);
    peer.attach(made);
  }

  /** Nothing is shared with a peer any more. */
  void closed(ShmPeer peer) {
    peers.remove(peer);
  }

  @Override
  public boolean examine() {
    boolean gone = false;
    for (ShmPeer peer : List.copyOf(peers)) {
      gone |= peer.examine();
    }
    return gone;
  }

  @Override
  public void peerAccepted(Peer peer) {
    of(peer).regionMapped();
  }

  @Override
  public Upgrade offer(Peer peer) throws TransportException {
    return of(peer).offer(ringBytes, maxRingBytes);
  }

  @Override
  public int maxOfferBytes() {
    return ShmMessages.OFFER_BYTES;
  }

  @Override
  public Upgrade answer(Peer peer, ByteBuffer payload) throws TransportException {
    return of(peer).answer(payload, maxRingBytes);
  }

  @Override
  public void received(Peer peer, ByteBuffer message) throws TransportException {
    of(peer).received(message);
  }

  @Override
  public void peerGone(Peer peer) {
    if (peer.attachment() != null) {
      of(peer).gone();
    }
  }

  /** A stream uses a ring outside its page. Any thread. */
  void outside(Peer peer) {
    VarHandle.fullFence(); // between the move and the look, as between the two in rest
    if (!anyOutside) {
      anyOutside = true;
      peer.execute(() -> {}); // the negotiation thread is to look at the clock from now on
    }
  }

  @Override
  public boolean joinsNamespaces() {
    return true;
  }

  @Override
  public boolean mayRest() {
    return anyOutside;
  }

  @Override
  public void rest() {
    anyOutside = false;
    VarHandle.fullFence();
    boolean again = true; // also if an error of lost memory ends this
    try {
      boolean outside = false;
      for (ShmPeer peer : peers) {
        outside |= peer.rest();
      }
      again = outside;
    } finally {
      if (again) {
        anyOutside = true;
      }
    }
  }

  @Override
  public void sweep() {
    if (directory.prepare() == null) { // nothing is removed from another user's directory
      sweepPrepared();
    }
  }

  private void sweepPrepared() {
    sweptAtNs = System.nanoTime();
    files.sweep();
  }

  /**
   * Refuses a connection that could find itself without rings: behind a page alone, programs hang
   * that write on both sides before they read, as TCP's buffers let them. The file system is asked
   * once a turn of the negotiation thread, and again if what it said then is not enough.
   *
   * @param peer whose connection it is
   * @param connections of the pair of processes, with the new one
   * @param bytes to be taken for it at once
   */
  void requireRoom(Peer peer, int connections, int bytes) throws TransportException {
    long room = Math.max(roomBytes, ROOM_EACH_BYTES * Math.min(connections, ROOM_FOR));
    long turn = peer.turnNumber();
    boolean known = turn != Peer.NO_TURN && turn == freeIn;
    if (!known || freeBytes < room + bytes) {
      freeIn = Peer.NO_TURN;
      freeBytes = requireFree(room + bytes, "a connection");
      freeIn = turn;
    }
    freeBytes -= bytes;
  }

  /**
   * Makes a ring in a file of its own.
   *
   * @param reserved whether something must be left afterwards, because the connection has a ring
   */
  SharedFiles.Created<Mapping> createRing(int bytes, boolean reserved) throws TransportException {
    if (reserved) {
      requireFree((long) bytes * RESERVE, "a larger ring");
    }
    freeBytes -= bytes;
    return files.create(bytes);
  }

  private long requireFree(long bytes, String what) throws TransportException {
    long free = usableBytes.getAsLong();
    if (free < bytes) {
      throw new TransportException(
          Reason.SHM_FULL,
          free + " bytes free in " + directory.path() + ", " + what + " needs " + bytes);
    }
    return free;
  }

  private static ShmPeer of(Peer peer) {
    return (ShmPeer) peer.attachment();
  }
}
