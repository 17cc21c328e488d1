// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.ring.RingDevice;
import io.talaria.mpj.device.ring.SharedFiles;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A rank that is a process, started by {@link Mpirun}. */
final class ProcessJob implements Job {
  private final int rank;
  private final int size;
  private final int cores;
  private final Path directory;
  private final Settings settings;
  private final ControlLink control;

  ProcessJob(int rank, int size, int cores, Path directory, Settings settings) throws IOException {
    this.rank = rank;
    this.size = size;
    this.cores = cores;
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
    return size;
  }

  @Override
  public Engine open() {
    try {
      Engine engine =
          new Engine(
              new RingDevice(
                  new SharedFiles(directory),
                  rank,
                  size,
                  settings.ringBytes(),
                  settings.eagerBytes(),
                  settings.creditBytes()),
              settings.spinNs(size, cores));
      control.tell("init");
      return engine;
    } catch (IOException e) {
      throw new UncheckedIOException("shared memory in " + directory, e);
    }
  }

  @Override
  public void finish(Engine engine) {
    control.tell("finish");
    while (!control.released()) {
      engine.progress();
      LockSupport.parkNanos(100_000);
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
