// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.ring.RankPages;
import io.talaria.mpj.device.ring.RankRings;
import io.talaria.mpj.device.ring.RingDevice;
import io.talaria.mpj.device.ring.SharedFiles;
import io.talaria.mpj.device.transport.AutoDevice;
import io.talaria.mpj.device.transport.FrameTransport;
import io.talaria.mpj.device.transport.MissingTransportException;
import io.talaria.mpj.device.transport.TransportDevice;
import io.talaria.mpj.device.ucx.UcxFrameTransport;
import io.talaria.mpj.device.verbs.VerbsFrameTransport;
import io.talaria.mpj.engine.Settings;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Opens the device of a rank that is a process, no matter which launcher has started it. */
final class Opening {
  /** How long the launcher has to end the job before operations with a dead rank fail. */
  static final long GRACE_NS = 3_000_000_000L;

  private static final boolean DIAGNOSE = Boolean.getBoolean("talaria.mpj.diagnose");

  /** How ranks learn of each other before they have a device. */
  interface Exchange {
    /** The secret that only the ranks of the job know; 32 bytes. */
    byte[] secret();

    /**
     * Publishes the address of this rank and returns the addresses of all; waits for the last of
     * them.
     *
     * @param mine a line
     * @return a line of each rank
     */
    List<String> rankAddresses(String mine) throws IOException;
  }

  private final int rank;
  private final int[] hostOfRank;
  private final String device;
  private final Path directory;
  private final Settings settings;
  private final Exchange exchange;

  /** What others may see of this rank. */
  private RankPages pages;

  private Links links;
  private VerbsFrameTransport verbs;
  private long graceNs = GRACE_NS;

  /**
   * For a rank.
   *
   * @param device shm, nio, ucx, ibv or auto
   * @param directory of the job on this host, with the ranks' pages
   */
  Opening(
      int rank,
      int[] hostOfRank,
      String device,
      Path directory,
      Settings settings,
      Exchange exchange) {
    this.rank = rank;
    this.hostOfRank = hostOfRank;
    this.device = device;
    this.directory = directory;
    this.settings = settings;
    this.exchange = exchange;
  }

  private int size() {
    return hostOfRank.length;
  }

  private boolean here(int other) {
    return hostOfRank[other] == hostOfRank[rank];
  }

  /** Ranks on this host. */
  int ranksHere() {
    int ranks = 0;
    for (int i = 0; i < size(); i++) {
      ranks += here(i) ? 1 : 0;
    }
    return ranks;
  }

  /** For a job that continues without ranks that have ended: nobody is waited for. */
  void withoutGrace() {
    graceNs = 0;
  }

  /**
   * Opens it; once.
   *
   * @throws IOException if that fails
   */
  FrameDevice device() throws IOException {
    SharedFiles files = new SharedFiles(directory);
    pages = new RankPages(files.pages(), size());
    pages.process(rank, ProcessHandle.current().pid());
    int eager = settings.eagerBytes();
    if (device.equals("shm")) {
      return new RingDevice(files, rank, size(), ringBytes(), eager, settings.creditBytes());
    }
    FrameTransport transport = transport();
    if (!device.equals("auto")) {
      return new TransportDevice(transport, rank, size(), eager, settings.creditBytes(), pages);
    }
    boolean[] here = new boolean[size()];
    for (int i = 0; i < here.length; i++) {
      here[i] = here(i);
    }
    int ring = ringBytes();
    RankRings rings = new RankRings(files, rank, size(), ring);
    return new AutoDevice(rings, transport, rank, here, ring, eager, settings.creditBytes());
  }

  /** As much as there is room for if each two ranks talk; at the start there was for the least. */
  private int ringBytes() throws IOException {
    int ranksHere = ranksHere();
    FileStore store = Files.getFileStore(directory);
    long room = store.getTotalSpace() > 0 ? store.getUsableSpace() : Long.MAX_VALUE;
    int ring = settings.ringBytes(ranksHere);
    while (ring > settings.ringBytes() && SharedFiles.maxBytes(size(), ranksHere, ring) > room) {
      ring /= 2;
    }
    return ring;
  }

  private FrameTransport transport() throws IOException {
    try {
      String between = device.equals("auto") ? settings.between() : device;
      FrameTransport transport =
          switch (between) {
            case "ucx" -> ucx();
            case "ibv" -> verbs();
            case "nio" -> links();
            default -> {
              Between choice = new Between(links(), rdma());
              yield choice.choose(exchange.rankAddresses(choice.rankAddress()));
            }
          };
      if (!between.equals("auto")) {
        transport.rankAddresses(exchange.rankAddresses(transport.rankAddress()));
      }
      return transport;
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** What this rank would take between hosts that have RDMA, the better one first. */
  private List<FrameTransport> rdma() throws IOException {
    List<FrameTransport> found = new ArrayList<>();
    if (Rdma.isUp()) {
      try {
        found.add(verbs());
      } catch (MissingTransportException e) {
        // UCX may find another way.
      }
      try {
        found.add(ucx());
      } catch (MissingTransportException e) {
        // Connections are left.
      }
    }
    return found;
  }

  private Links links() throws IOException {
    links = links(settings.bufferBytes());
    return links;
  }

  private Links links(int bufferBytes) throws IOException {
    Links.Options options =
        new Links.Options()
            .secret(exchange.secret())
            .bufferBytes(bufferBytes)
            .graceNs(graceNs)
            .creditBytes(settings.creditBytes());
    for (int i = 0; i < size(); i++) {
      if (!here(i)) {
        options.otherHosts(settings.network());
      }
    }
    return new Links(rank, size(), options);
  }

  private FrameTransport verbs() throws IOException {
    Links lifelines = links(VerbsFrameTransport.SETUP_BUFFER_BYTES);
    verbs =
        new VerbsFrameTransport(
            rank,
            size(),
            lifelines,
            settings.hca(),
            settings.bufferBytes(),
            settings.creditBytes(),
            settings.registeredBytes(),
            graceNs);
    if (links == null) {
      links = lifelines;
    }
    return verbs;
  }

  private FrameTransport ucx() throws IOException {
    return new UcxFrameTransport(
        rank, size(), settings.bufferBytes(), settings.creditBytes(), graceNs);
  }

  /**
   * Reports at the end if a process that is not of the job tried to connect, and, where it is asked
   * for, what was registered.
   */
  void sayLastWords() {
    pages.process(rank, 0);
    if (verbs != null && DIAGNOSE && !verbs.registered().isEmpty()) {
      System.err.println("talaria mpirun: rank " + rank + ": " + verbs.registered());
    }
    if (links != null && links.refused() > 0) {
      System.err.println(
          "talaria mpirun: rank "
              + rank
              + " closed "
              + links.refused()
              + " connections that were not of this job; the last: "
              + links.lastRefusal());
    }
  }
}
