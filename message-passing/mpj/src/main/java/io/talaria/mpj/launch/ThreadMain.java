// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.ring.RingDevice;
import io.talaria.mpj.device.ring.ThreadHub;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Settings;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** The first class of a job whose ranks are threads of one JVM: {@code -dev sm}. */
public final class ThreadMain {
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  private ThreadMain() {}

  /**
   * Runs all ranks; the launcher's business.
   *
   * @param args number of ranks, the program's class, and its arguments
   * @throws Exception if the class path is unusable or this thread interrupted
   */
  public static void main(String[] args) throws Exception {
    Optional<ProcessHandle> launcher = ProcessHandle.current().parent();
    int size = Integer.parseInt(args[0]);
    Settings settings;
    try {
      settings = Settings.of(System.getProperties());
      io.talaria.mpj.collective.Choice.check(settings.algorithms());
    } catch (IllegalArgumentException e) {
      System.err.println("talaria mpirun: " + e.getMessage());
      System.exit(Settings.STATUS_CONFIG);
      return;
    }
    ThreadHub hub = new ThreadHub(size);
    AtomicInteger finished = new AtomicInteger();
    Absence absence = new Absence();
    URL[] classPath = classPath();
    Thread[] ranks = new Thread[size];
    for (int i = 0; i < size; i++) {
      ThreadJob job = new ThreadJob(i, size, hub, finished, absence, settings);
      ranks[i] =
          new Thread(
              () -> {
                RankLoader loader = new RankLoader(classPath, job);
                Thread.currentThread().setContextClassLoader(loader);
                String[] rest = Arrays.copyOfRange(args, 2, args.length);
                int status = RankMain.run(args[1], rest, loader);
                if (status != 0) {
                  job.abort(status, "rank " + job.rank() + " failed with status " + status);
                } else if (job.opened && !job.closed) {
                  // Others may wait for it.
                  job.abort(1, "rank " + job.rank() + " ended without MPI.Finalize");
                } else if (!job.opened && absence.ended(job.rank())) {
                  job.abort(1, "rank " + job.rank() + " ended without MPI.Init");
                }
              },
              "rank-" + i);
      ranks[i].start();
    }
    for (Thread rank : ranks) {
      while (!rank.join(LOOK_EVERY)) {
        // No launcher is left that could clean up behind this process.
        if (!ProcessHandle.current().parent().equals(launcher)) {
          JobDirectory.delete(Path.of(System.getenv(RankMain.DIRECTORY)));
          Runtime.getRuntime().halt(1);
        }
      }
    }
  }

  private static URL[] classPath() throws MalformedURLException {
    String[] entries = System.getProperty("java.class.path").split(File.pathSeparator);
    URL[] urls = new URL[entries.length];
    for (int i = 0; i < entries.length; i++) {
      urls[i] = new File(entries[i]).toURI().toURL();
    }
    return urls;
  }

  /** Whether a rank has called Init, and which one has ended without: others would wait for it. */
  private static final class Absence {
    private boolean initialized;
    private int ended = -1;

    /** Notes that a rank calls Init; returns one that has ended without, or -1. */
    synchronized int initialized() {
      initialized = true;
      return ended;
    }

    /** Notes that a rank has ended without; returns whether another one has called Init. */
    synchronized boolean ended(int rank) {
      ended = rank;
      return initialized;
    }
  }

  private static final class ThreadJob implements Job {
    private final int rank;
    private final int size;
    private final ThreadHub hub;
    private final AtomicInteger finished;
    private final Absence absence;
    private final Settings settings;
    private volatile boolean opened;
    private volatile boolean closed;

    ThreadJob(
        int rank,
        int size,
        ThreadHub hub,
        AtomicInteger finished,
        Absence absence,
        Settings settings) {
      this.rank = rank;
      this.size = size;
      this.hub = hub;
      this.finished = finished;
      this.absence = absence;
      this.settings = settings;
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
      opened = true;
      int absent = absence.initialized();
      if (absent >= 0) {
        abort(1, "rank " + absent + " ended without MPI.Init");
      }
      int cores = Runtime.getRuntime().availableProcessors();
      return new Engine(
          new RingDevice(
              hub.area(),
              rank,
              size,
              settings.ringBytes(size),
              settings.eagerBytes(),
              settings.creditBytes()),
          settings.waiting(size, cores),
          size > cores);
    }

    @Override
    public void finish(Engine engine) {
      finished.incrementAndGet();
      while (finished.get() < size) {
        engine.progress();
        LockSupport.parkNanos(100_000);
      }
      closed = true;
    }

    @Override
    public void abort(int status, String why) {
      System.err.println("talaria mpirun: " + why);
      System.out.flush();
      System.err.flush();
      Runtime.getRuntime().halt(status);
    }
  }
}
