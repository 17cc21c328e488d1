// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.ring.RankPages;
import io.talaria.mpj.device.ring.RingDevice;
import io.talaria.mpj.device.ring.RingWays;
import io.talaria.mpj.device.ring.SharedFiles;
import io.talaria.mpj.device.ucx.UcxWays;
import io.talaria.mpj.device.ways.AutoDevice;
import io.talaria.mpj.device.ways.Ways;
import io.talaria.mpj.device.ways.WaysDevice;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A rank that is a process, started by {@link Mpirun} or its agent. */
final class ProcessJob implements Job {
  /** Exit status where something is not installed: EX_UNAVAILABLE of sysexits.h. */
  private static final int STATUS_MISSING = 69;

  /** How long the launcher has to end the job before operations with a dead rank fail. */
  private static final long GRACE_NS = 3_000_000_000L;

  private final int rank;
  private final int[] hostOfRank;
  private final int cores;
  private final String device;
  private final Path directory;
  private final Settings settings;
  private final ControlLink control;
  private Links links;

  ProcessJob(
      int rank, int[] hostOfRank, int cores, String device, Path directory, Settings settings)
      throws IOException {
    this.rank = rank;
    this.hostOfRank = hostOfRank;
    this.cores = cores;
    this.device = device;
    this.directory = directory;
    this.settings = settings;
    control = new ControlLink(directory, rank);
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return hostOfRank.length;
  }

  private boolean here(int other) {
    return hostOfRank[other] == hostOfRank[rank];
  }

  @Override
  public Engine open() {
    int ranksHere = 0;
    for (int i = 0; i < size(); i++) {
      ranksHere += here(i) ? 1 : 0;
    }
    try {
      Engine engine = new Engine(device(), settings.spinNs(ranksHere, cores));
      control.tell("init");
      return engine;
    } catch (UcxWays.MissingException e) {
      abort(STATUS_MISSING, "rank " + rank + " cannot use UCX: " + e.getMessage());
      throw new UncheckedIOException(e);
    } catch (IOException e) {
      throw new UncheckedIOException("rank " + rank + " cannot open its device", e);
    }
  }

  private FrameDevice device() throws IOException {
    SharedFiles files = new SharedFiles(directory);
    int ring = settings.ringBytes();
    int eager = settings.eagerBytes();
    if (device.equals("shm")) {
      return new RingDevice(files, rank, size(), ring, eager, settings.creditBytes());
    }
    Ways ways = ways();
    if (!device.equals("auto")) {
      RankPages pages = new RankPages(files.pages(), size());
      return new WaysDevice(ways, rank, size(), eager, settings.creditBytes(), pages);
    }
    boolean[] here = new boolean[size()];
    for (int i = 0; i < here.length; i++) {
      here[i] = here(i);
    }
    RingWays rings = new RingWays(files, rank, size(), ring);
    return new AutoDevice(rings, ways, rank, here, ring, eager, settings.creditBytes());
  }

  private Ways ways() throws IOException {
    try {
      if (device.equals("auto") && !settings.between().equals("ucx")) {
        Between between = new Between(links(), ucxForRdma());
        control.tell("card " + between.card());
        return between.choose(control.cards());
      }
      Ways ways = device.equals("nio") ? links() : ucx();
      control.tell("card " + ways.card());
      ways.cards(control.cards());
      return ways;
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** UCX, if this rank would take it between hosts; else null. */
  private Ways ucxForRdma() throws IOException {
    if (!settings.between().equals("auto") || !Rdma.isUp()) {
      return null;
    }
    try {
      return ucx();
    } catch (UcxWays.MissingException e) {
      return null;
    }
  }

  private Ways links() throws IOException {
    Links.Options options =
        new Links.Options()
            .secret(control.secret())
            .bufferBytes(settings.bufferBytes())
            .creditBytes(settings.creditBytes());
    for (int i = 0; i < size(); i++) {
      if (!here(i)) {
        options.otherHosts(settings.network());
      }
    }
    links = new Links(rank, size(), options);
    return links;
  }

  private Ways ucx() throws IOException {
    return new UcxWays(rank, size(), settings.bufferBytes(), settings.creditBytes(), GRACE_NS);
  }

  @Override
  public void finish(Engine engine) {
    control.tell("finish");
    while (!control.released()) {
      engine.progress();
      LockSupport.parkNanos(100_000);
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
    control.tell("finalized");
  }

  @Override
  public void abort(int status, String why) {
    System.out.flush();
    System.err.flush();
    control.tell("abort " + status + " " + why);
    // The launcher ends this process; should it be slow, this does.
    LockSupport.parkNanos(3_000_000_000L);
    Runtime.getRuntime().halt(status);
  }
}
