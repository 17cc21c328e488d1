// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;

/**
 * All memory that a peer shares with its victim in one session, as the peer has mapped it, and what
 * it may tell the victim about it. Confined to a thread, but for {@link #scribble}.
 */
public final class HostileMemory implements AutoCloseable {
  private final SharedFiles files;
  private final Map<Integer, Mapping> slabs = new HashMap<>();
  private final Queue<ByteBuffer> toSay = new ArrayDeque<>();
  private final List<Long> made = new ArrayList<>();
  private final boolean dials;
  private ByteBuffer region;
  private int slots;
  private int ringBytes;

  /**
   * @param shmDir the victim's directory
   * @param dials whether the hostile side dials the session, so that the slots are its own
   */
  public HostileMemory(Path shmDir, boolean dials) {
    files = new SharedFiles(new PrivateDirectory(shmDir, Reason.NO_SHM_DIR));
    this.dials = dials;
  }

  /** Makes the memory of a peer; the payload for a HELLO. */
  public ByteBuffer makeRegion() throws IOException {
    SharedFiles.Created<ByteBuffer> file = ioCall(() -> files.createCollected(PeerLayout.BYTES));
    made.add(file.id());
    region = file.mapping();
    ConnectionLayout.setRelease(region, PeerLayout.MAGIC_OFFSET, PeerLayout.MAGIC);
    return ByteBuffer.allocate(Long.BYTES).putLong(0, file.id());
  }

  /** Maps what a HELLO names. */
  public void openRegion(ByteBuffer payload) throws IOException {
    region = ioCall(() -> files.openCollected(payload.getLong(), PeerLayout.BYTES, 0));
  }

  /**
   * Makes the memory of one more connection; the victim is to be told what {@link #toSay} says
   * before.
   *
   * @param ring size of the rings of slabs, if this is the first
   */
  public HostileConnection make(int ring) throws IOException {
    ringBytes = ringBytes == 0 ? ring : ringBytes;
    int slot = slots++;
    int index = SlabLayout.slab(slot);
    if (!slabs.containsKey(index)) {
      SharedFiles.Created<Mapping> file =
          ioCall(() -> files.create(SlabLayout.bytes(index, ringBytes)));
      made.add(file.id());
      map(index, file.mapping());
      toSay.add(ShmMessages.slab(index, file.id(), ringBytes));
    }
    ConnectionLayout.reset(page(slot), slot, slot + 1, ringBytes);
    return new HostileConnection(
        this, page(slot), 0, slot, slot + 1, ringBytes, ShmMessages.offer(slot, slot + 1));
  }

  /** What the victim is to be told now, or null. */
  public ByteBuffer toSay() {
    return toSay.poll();
  }

  /** Takes what the victim has said: perhaps that there is a slab. */
  public void told(ByteBuffer message) throws IOException {
    if (message.remaining() == 1 + ShmMessages.SLAB_BYTES && message.get() == ShmMessages.SLAB) {
      int index = message.getInt();
      long file = message.getLong();
      ringBytes = message.getInt();
      map(index, ioCall(() -> files.open(file, SlabLayout.bytes(index, ringBytes), 0)));
      toSay.add(ShmMessages.mapped(index));
    }
  }

  private void map(int index, Mapping mapping) {
    slabs.put(index, mapping);
    int mine = dials ? 0 : 1;
    for (int i = 0; i < SlabLayout.rings(index, ringBytes); i++) {
      HostileConnection.tag(ring(mapping, index, mine, i));
      ByteBuffer victims = ring(mapping, index, 1 - mine, i);
      for (int at = 0; at < ringBytes; at++) {
        victims.put(at, (byte) 0);
      }
    }
  }

  private ByteBuffer ring(Mapping mapping, int index, int side, int i) {
    return mapping.buffer().slice(SlabLayout.ringAt(index, side, i, ringBytes), ringBytes);
  }

  private ByteBuffer page(int slot) throws IOException {
    Mapping slab = slabs.get(SlabLayout.slab(slot));
    if (slab == null) {
      throw new IOException("the slab of slot " + slot + " is not known here");
    }
    return slab.buffer()
        .slice(SlabLayout.pageAt(slot), SlabLayout.PAGE_BYTES)
        .order(ByteOrder.nativeOrder());
  }

  /** Whether a ring of a slab that the victim writes holds a byte below a limit, other than 0. */
  boolean holdsByteBelow(int limit) {
    for (Map.Entry<Integer, Mapping> slab : slabs.entrySet()) {
      for (int i = 0; i < SlabLayout.rings(slab.getKey(), ringBytes); i++) {
        ByteBuffer ring = ring(slab.getValue(), slab.getKey(), dials ? 1 : 0, i);
        for (int at = 0; at < ringBytes; at++) {
          if (ring.get(at) > 0 && ring.get(at) < limit) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** Maps what an offer names, unless its slab was named while nobody listened. */
  public HostileConnection open(ByteBuffer offer) throws IOException {
    int slot = offer.getInt();
    int generation = offer.getInt();
    return new HostileConnection(this, page(slot), 1, slot, generation, ringBytes, null);
  }

  /** Makes a larger ring, full of bytes that are the hostile side's. */
  long makeRing(int bytes) throws IOException {
    SharedFiles.Created<Mapping> file = ioCall(() -> files.create(bytes));
    made.add(file.id());
    HostileConnection.tag(file.mapping().buffer());
    file.mapping().close();
    return file.id();
  }

  /** Writes something somewhere into the memory of the two processes. */
  public void scribble(Random random) {
    int victim = dials ? 1 : 0;
    int offset =
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> PeerLayout.ready(victim, random.nextInt(4));
          case 3 -> PeerLayout.ready(1 - victim, random.nextInt(4));
          case 4, 5 -> PeerLayout.sleep(1 - victim, random.nextInt(4));
          case 6 -> PeerLayout.sleep(victim, random.nextInt(PeerLayout.READY_SETS));
          default -> Long.BYTES * random.nextInt(PeerLayout.BYTES / Long.BYTES);
        };
    ConnectionLayout.setRelease(region, offset, random.nextInt(3) == 0 ? -1 : random.nextLong());
  }

  /** Says that all of the victim's connections with this peer are ready. */
  public void hintAll() {
    for (int word = 0; word < 4; word++) {
      ConnectionLayout.setRelease(region, PeerLayout.ready(dials ? 1 : 0, word), -1);
    }
  }

  /** Says that the hostile side can ring all doorbells of the victim's threads. */
  public void licenseDoorbells() {
    for (int doorbell = 0; doorbell < PeerLayout.THREAD_DOORBELLS; doorbell += Long.SIZE) {
      ConnectionLayout.setRelease(region, PeerLayout.opened(dials ? 1 : 0, doorbell), -1);
    }
  }

  /** Work on files. */
  @FunctionalInterface
  private interface Files<T> {
    T call() throws TransportException;
  }

  private static <T> T ioCall(Files<T> files) throws IOException {
    try {
      return files.call();
    } catch (TransportException e) {
      throw new IOException(e);
    }
  }

  /** Unmaps everything but the region, and takes away names that nobody has. */
  @Override
  public void close() {
    made.forEach(files::remove);
    slabs.values().forEach(Mapping::close);
    slabs.clear();
  }
}
