// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * All memory that a peer shares with its victim in one session, as the peer has mapped it, and what
 * it may tell the victim about it. Confined to a thread, but for {@link #scribble}.
 */
public final class HostileMemory implements AutoCloseable {
  private final SharedFiles files;
  private final Map<Integer, Mapping> segments = new HashMap<>();
  private final List<Long> made = new ArrayList<>();
  private final boolean dials;
  private ByteBuffer region;
  private int slots;

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

  /** Makes the memory of one more connection. */
  public HostileConnection make(int ring) throws IOException {
    SharedFiles.Created<Mapping> file =
        ioCall(() -> files.create(ConnectionLayout.segmentBytes(ring)));
    made.add(file.id());
    int slot = slots++;
    segments.put(slot, file.mapping());
    ConnectionLayout.reset(file.mapping().buffer(), slot, ring);
    return new HostileConnection(
        this, file.mapping().buffer(), 0, slot, 1, ring, offer(slot, 1, file.id(), ring));
  }

  /** Maps what an offer names. */
  public HostileConnection open(ByteBuffer offer) throws IOException {
    int slot = offer.getInt();
    int generation = offer.getInt();
    long file = offer.getLong();
    int ring = offer.getInt();
    if (file != 0) {
      segments.put(slot, ioCall(() -> files.open(file, ConnectionLayout.segmentBytes(ring), 0)));
    }
    return new HostileConnection(
        this, segments.get(slot).buffer(), 1, slot, generation, ring, null);
  }

  private static ByteBuffer offer(int slot, int generation, long file, int ring) {
    return ByteBuffer.allocate(ShmMessages.OFFER_BYTES)
        .putInt(slot)
        .putInt(generation)
        .putLong(file)
        .putInt(ring)
        .flip();
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
          case 6 -> PeerLayout.sleep(victim, random.nextInt(PeerLayout.HOMES));
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

  /** Says that the hostile side can ring all bells of the victim's threads. */
  public void licenseBells() {
    for (int bell = 0; bell < PeerLayout.THREAD_BELLS; bell += Long.SIZE) {
      ConnectionLayout.setRelease(region, PeerLayout.opened(dials ? 1 : 0, bell), -1);
    }
  }

  /** Work on files. */
  @FunctionalInterface
  private interface Files<T> {
    T call() throws FabricException;
  }

  private static <T> T ioCall(Files<T> files) throws IOException {
    try {
      return files.call();
    } catch (FabricException e) {
      throw new IOException(e);
    }
  }

  /** Unmaps everything but the region, and takes away names that nobody has. */
  @Override
  public void close() {
    made.forEach(files::remove);
    segments.values().forEach(Mapping::close);
    segments.clear();
  }
}
