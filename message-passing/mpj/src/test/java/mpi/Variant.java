// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.ring.RankRings;
import io.talaria.mpj.device.ring.RingArea;
import io.talaria.mpj.device.ring.RingDevice;
import io.talaria.mpj.device.ring.SharedFiles;
import io.talaria.mpj.device.ring.ThreadHub;
import io.talaria.mpj.device.transport.AutoDevice;
import io.talaria.mpj.device.transport.FrameTransport;
import io.talaria.mpj.device.transport.TransportDevice;
import io.talaria.mpj.device.ucx.UcxFrameTransport;
import io.talaria.mpj.device.verbs.LoopbackVerbs;
import io.talaria.mpj.device.verbs.VerbsFrameTransport;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Settings;
import io.talaria.mpj.engine.Waiting;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;

/** Runs the ranks of a test as threads of this JVM, each with an engine of its own. */
final class Variant {
  /** What a rank does. */
  interface Body {
    void run(Intracomm world) throws Exception;
  }

  private enum Kind {
    THREADS,
    FILES,
    NIO,
    UCX,
    VERBS,
    AUTO,
    AUTO_UCX,
    AUTO_VERBS
  }

  private final Kind kind;
  private final Properties properties = new Properties();
  private Waiting waiting = new Waiting(1000, 0);
  private final AtomicLong lateWakeUps = new AtomicLong();

  private Variant(Kind kind) {
    this.kind = kind;
  }

  static Variant threads() {
    return new Variant(Kind.THREADS);
  }

  static Variant sharedFiles() {
    return new Variant(Kind.FILES);
  }

  static Variant nio() {
    return new Variant(Kind.NIO);
  }

  /** Rings among the even and among the odd ranks, connections between them: two hosts. */
  static Variant auto() {
    return new Variant(Kind.AUTO);
  }

  static Variant ucx() {
    return new Variant(Kind.UCX);
  }

  /** As {@link #auto}, with UCX between the two hosts. */
  static Variant autoWithUcx() {
    return new Variant(Kind.AUTO_UCX);
  }

  /** On the provider in memory, or on a device: see {@link LoopbackVerbs}. */
  static Variant verbs() {
    return new Variant(Kind.VERBS);
  }

  /** As {@link #auto}, with verbs between the two hosts. */
  static Variant autoWithVerbs() {
    return new Variant(Kind.AUTO_VERBS);
  }

  private boolean isAuto() {
    return kind == Kind.AUTO || kind == Kind.AUTO_UCX || kind == Kind.AUTO_VERBS;
  }

  private Links.Options options(Settings settings) {
    return new Links.Options()
        .secret(new byte[] {1, 2, 3})
        .bufferBytes(settings.bufferBytes())
        .creditBytes(settings.creditBytes());
  }

  private FrameDevice device(
      int rank,
      int ranks,
      Settings settings,
      Path directory,
      ThreadHub hub,
      FrameTransport[] transports)
      throws IOException {
    int ring = settings.ringBytes(ranks);
    int eager = settings.eagerBytes();
    long credit = settings.creditBytes();
    if (kind == Kind.NIO || kind == Kind.UCX || kind == Kind.VERBS) {
      return new TransportDevice(transports[rank], rank, ranks, eager, credit, null);
    }
    RingArea area = kind == Kind.THREADS ? hub.area() : new SharedFiles(directory);
    if (isAuto()) {
      boolean[] here = new boolean[ranks];
      for (int i = 0; i < ranks; i++) {
        here[i] = i % 2 == rank % 2;
      }
      RankRings rings = new RankRings(area, rank, ranks, ring);
      return new AutoDevice(rings, transports[rank], rank, here, ring, eager, credit);
    }
    return new RingDevice(area, rank, ranks, ring, eager, credit);
  }

  private FrameTransport[] transports(int ranks, Settings settings) {
    if (kind == Kind.THREADS || kind == Kind.FILES) {
      return null;
    }
    FrameTransport[] transports = new FrameTransport[ranks];
    List<String> rankAddresses = new ArrayList<>();
    try {
      for (int i = 0; i < ranks; i++) {
        transports[i] = transport(i, ranks, settings);
        rankAddresses.add(transports[i].rankAddress());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (FrameTransport each : transports) {
      each.rankAddresses(rankAddresses);
    }
    return transports;
  }

  private FrameTransport transport(int rank, int ranks, Settings settings) throws IOException {
    int buffer = settings.bufferBytes();
    long credit = settings.creditBytes();
    return switch (kind) {
      case UCX, AUTO_UCX -> new UcxFrameTransport(rank, ranks, buffer, credit, 0);
      case VERBS, AUTO_VERBS -> {
        Links.Options setup =
            options(settings).bufferBytes(VerbsFrameTransport.SETUP_BUFFER_BYTES).graceNs(0);
        yield new VerbsFrameTransport(
            rank,
            ranks,
            new Links(rank, ranks, setup),
            null,
            buffer,
            credit,
            settings.registeredBytes(),
            0);
      }
      default -> new Links(rank, ranks, options(settings));
    };
  }

  Variant with(String name, Object value) {
    properties.setProperty("talaria.mpj." + name, value.toString());
    return this;
  }

  Variant spinNs(long ns) {
    waiting = new Waiting(ns, 0);
    return this;
  }

  Variant yieldNs(long ns) {
    waiting = new Waiting(0, ns);
    return this;
  }

  long lateWakeUps() {
    return lateWakeUps.get();
  }

  void run(int ranks, Body body) {
    Settings settings = Settings.of(properties);
    boolean files = kind == Kind.FILES || isAuto();
    assumeThereIsUcx();
    assumeThereAreVerbs();
    Path directory = files ? directory(ranks) : null;
    ThreadHub hub = files ? null : new ThreadHub(ranks);
    FrameTransport[] transports = transports(ranks, settings);
    AtomicInteger finished = new AtomicInteger();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    CountDownLatch over = new CountDownLatch(ranks);
    Thread[] threads = new Thread[ranks];
    for (int i = 0; i < ranks; i++) {
      int rank = i;
      threads[i] =
          new Thread(
              () -> {
                try {
                  FrameDevice device = device(rank, ranks, settings, directory, hub, transports);
                  World world =
                      new World(
                          new Engine(device, waiting),
                          new TestJob(rank, ranks, finished),
                          settings);
                  body.run(world.commWorld());
                  world.close();
                  if (device instanceof RingDevice ring) {
                    lateWakeUps.addAndGet(ring.lateWakeUps());
                  }
                  if (device.numbered() != 0) {
                    throw new AssertionError(device.numbered() + " operations were never ended");
                  }
                  over.countDown();
                } catch (Throwable t) {
                  failure.compareAndSet(null, t);
                  while (over.getCount() > 0) {
                    over.countDown();
                  }
                }
              },
              "rank-" + i);
      threads[i].setDaemon(true);
      threads[i].start();
    }
    await(over, threads);
    if (failure.get() != null) {
      throw new AssertionError("a rank failed: " + failure.get(), failure.get());
    }
    if (files) {
      delete(directory);
    }
  }

  private void assumeThereIsUcx() {
    if (kind == Kind.UCX || kind == Kind.AUTO_UCX) {
      String unavailableReason = Ucx.unavailableReason().orElse(null);
      Assumptions.assumeTrue(unavailableReason == null, unavailableReason);
    }
  }

  private void assumeThereAreVerbs() {
    if (kind == Kind.VERBS || kind == Kind.AUTO_VERBS) {
      String unavailableReason = LoopbackVerbs.prepare();
      Assumptions.assumeTrue(unavailableReason.isEmpty(), unavailableReason);
    }
  }

  private static void await(CountDownLatch over, Thread[] threads) {
    try {
      if (!over.await(LoopbackVerbs.isDevice() ? 600 : 120, TimeUnit.SECONDS)) {
        StringBuilder stacks = new StringBuilder();
        for (Thread thread : threads) {
          stacks.append(thread.getName()).append('\n');
          for (StackTraceElement frame : thread.getStackTrace()) {
            stacks.append("    ").append(frame).append('\n');
          }
        }
        throw new AssertionError("ranks hang:\n" + stacks);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Path directory(int ranks) {
    try {
      Path directory = Files.createTempDirectory("mpj-test");
      SharedFiles.prepare(directory, ranks);
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes the directory, in which there must be nothing but the ranks' pages. */
  private static void delete(Path directory) {
    try {
      Files.delete(directory.resolve("pages"));
      try (var left = Files.list(directory)) {
        for (Path file : left.toList()) {
          Files.delete(file); // A ring whose reader never looked.
        }
      }
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record TestJob(int rank, int size, AtomicInteger finished) implements Job {
    @Override
    public Engine open() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void finish(Engine engine) {
      finished.incrementAndGet();
      while (finished.get() < size) {
        engine.progress();
        LockSupport.parkNanos(20_000);
      }
    }

    @Override
    public void abort(int status, String why) {
      throw new AssertionError(why);
    }
  }
}
