// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.transport.MissingTransportException;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.FailureControl;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A rank that is a process, started by {@link Mpirun} or its agent. */
final class ProcessJob implements Job {
  /** Exit status where something is not installed: EX_UNAVAILABLE of sysexits.h. */
  static final int STATUS_MISSING = 69;

  private static final long MIN_PARK_NS = 100_000;
  private static final long MAX_PARK_NS = 2_000_000;

  private final int rank;
  private final int[] hostOfRank;
  private final int cores;
  private final Settings settings;
  private final boolean continues;
  private final ControlLink control;
  private final Opening opening;

  /**
   * Joins the job.
   *
   * @param continues whether it continues after ranks have failed
   */
  ProcessJob(
      int rank,
      int[] hostOfRank,
      int cores,
      String device,
      Path directory,
      boolean continues,
      Settings settings)
      throws IOException {
    this.rank = rank;
    this.hostOfRank = hostOfRank;
    this.cores = cores;
    this.settings = settings;
    this.continues = continues;
    control = new ControlLink(directory, rank);
    opening = new Opening(rank, hostOfRank, device, directory, settings, control);
    if (continues) {
      opening.withoutGrace();
    }
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return hostOfRank.length;
  }

  @Override
  public Engine open() {
    try {
      int ranksHere = opening.ranksHere();
      Engine engine =
          new Engine(
              opening.device(),
              settings.waiting(ranksHere, cores),
              ranksHere == size() && ranksHere > cores);
      control.failures().opened(engine);
      control.tell("init");
      return engine;
    } catch (MissingTransportException e) {
      abort(STATUS_MISSING, "rank " + rank + " cannot use " + e.what() + ": " + e.getMessage());
      throw new UncheckedIOException(e);
    } catch (IOException e) {
      throw new UncheckedIOException("rank " + rank + " cannot open its device", e);
    }
  }

  @Override
  public void finish(Engine engine) {
    control.finish();
    long parkNs = MIN_PARK_NS;
    while (!control.released()) {
      boolean wanted = engine.progressIfIdle();
      LockSupport.parkNanos(parkNs);
      // Ranks that still work need the cores.
      parkNs = wanted ? MIN_PARK_NS : Math.min(2 * parkNs, MAX_PARK_NS);
    }
    opening.sayLastWords();
    control.tell("finalized");
  }

  @Override
  public FailureControl failures() {
    return continues ? control.failures() : null;
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
