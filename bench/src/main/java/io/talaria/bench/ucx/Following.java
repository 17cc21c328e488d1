// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.ucx.Messages.Setup;
import java.io.IOException;

/**
 * The server's side of one connection: a thread that owns its UCX and does nothing else. Its orders
 * come from the session's thread.
 */
final class Following {
  private static final long STOP_NS = ControlLink.LIMIT.toNanos() / 2;

  private final ControlLink link;
  private final Setup setup;
  private final Thread thread;

  /** Written by the session's thread before {@link #stopping}. */
  private long expected;

  private volatile boolean stopping;
  private volatile boolean closing;
  private volatile boolean aborted;

  Following(ControlLink link, Setup setup) {
    this.link = link;
    this.setup = setup;
    thread = new Thread(this::run, "talaria-bench-ucx");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Orders to stop once so many operations were seen. */
  void stop(long operations) {
    expected = operations;
    stopping = true;
  }

  /** Orders to close. */
  void close() {
    closing = true;
  }

  /** Orders to close at once, whatever is under way. */
  void abort() {
    aborted = true;
  }

  /** Waits until all is closed. */
  void join() {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void check() {
    link.check();
    if (aborted) {
      throw new PeerLostException("the client has gone");
    }
  }

  private void run() {
    try (Side side = Side.open(setup.needs(), this::check)) {
      side.connect(setup.client());
      Exercise exercise = setup.operation().exercise(side, setup.kind(), setup.sizeBytes());
      exercise.begin(true);
      link.send(
          FrameType.READY, new Messages.Ready(side.credentials(setup.operation().isRemote())));
      follow(exercise);
      link.send(FrameType.STOPPED, new Messages.Stopped(exercise.count()));
      while (!closing) {
        check();
        side.spin();
      }
    } catch (PeerLostException e) {
      // The session knows.
    } catch (IOException | RuntimeException e) {
      link.fail(e.toString());
      link.close();
    }
  }

  private void follow(Exercise exercise) {
    while (!stopping) {
      exercise.follow();
      check();
    }
    long start = System.nanoTime();
    while (exercise.count() < expected && System.nanoTime() - start < STOP_NS) {
      exercise.follow();
      check();
    }
  }
}
