// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Team;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.Engine;
import java.util.ArrayDeque;

/**
 * The collectives of a communicator that were started and run in the background. A virtual thread
 * does them one after the other, in the order of starting, which is the same at all ranks; their
 * messages have a context of their own, so other calls on the communicator do not meet them.
 * Threads that wait make progress; while none waits, the engine's helper does.
 */
final class Background {
  private record Task(Runnable work, Operation over) {}

  private final Engine engine;
  private final Team team;
  private final ArrayDeque<Task> tasks = new ArrayDeque<>();
  private boolean running;

  Background(Engine engine, Team team) {
    this.engine = engine;
    this.team = team;
  }

  /** The ranks of the communicator, for messages in the context of this. */
  Team team() {
    return team;
  }

  /**
   * Starts a collective; the operation is over when that is, and fails with it.
   *
   * @param work does it, with messages of {@link #team}
   */
  Operation start(Runnable work) {
    Operation over = engine.promise();
    synchronized (this) {
      tasks.add(new Task(work, over));
      if (!running) {
        running = true;
        Thread.ofVirtual().name("talaria-mpj-collectives").start(this::run);
      }
    }
    return over;
  }

  /** Waits until all that were started are over. */
  void finish() {
    synchronized (this) {
      if (!running) {
        return;
      }
    }
    engine.await(start(() -> {})); // The thread does one after the other.
  }

  private synchronized Task next() {
    Task task = tasks.poll();
    running = task != null;
    return task;
  }

  private void run() {
    for (Task task = next(); task != null; task = next()) {
      RuntimeException failure = null;
      try {
        task.work.run();
      } catch (RuntimeException e) {
        failure = e;
      } catch (Error e) {
        failure = new MPIException(MPIException.ERR_OTHER, "" + e, e);
      }
      engine.end(task.over, failure);
    }
  }
}
