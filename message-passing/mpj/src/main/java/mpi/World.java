// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Choice;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.FailureControl;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.ProgressThread;
import io.talaria.mpj.engine.Settings;
import io.talaria.mpj.onesided.Windows;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/** What the communicators of a rank share: its engine, ids in use, buffered sends. */
final class World {
  private final Engine engine;
  private final Job job;
  private final Settings settings;
  private final ContextIds ids = new ContextIds();
  private final BufferedSends buffered = new BufferedSends();
  private final Windows windows;

  /** Makes progress while the program computes; null if that was not asked for. */
  private final ProgressThread progress;

  /** What the launcher does for ranks that continue after others; null if nothing. */
  private final FailureControl failures;

  /** Communicators by id, if they can be revoked. */
  private final Map<Integer, Comm> revocable = new ConcurrentHashMap<>();

  private final Set<Integer> revoked = ConcurrentHashMap.newKeySet();

  /** Ids of communicators that were freed while operations waited there; guarded by itself. */
  private final Set<Integer> leaving = new HashSet<>();

  private volatile boolean closed;

  World(Engine engine, Job job, Settings settings) {
    Choice.check(settings.algorithms());
    this.engine = engine;
    this.job = job;
    this.windows = new Windows(engine, this::progressFailed);
    this.progress =
        settings.progressNs() == 0
            ? null
            : new ProgressThread(
                "talaria-mpj-looks", engine, settings.progressNs(), () -> {}, this::progressFailed);
    this.settings = settings;
    this.failures = job.failures();
    if (failures != null) {
      ids.useOnce();
      failures.onRevoked(this::revoked);
    }
  }

  Engine engine() {
    return engine;
  }

  Settings settings() {
    return settings;
  }

  ContextIds ids() {
    return ids;
  }

  BufferedSends buffered() {
    return buffered;
  }

  Windows windows() {
    return windows;
  }

  boolean isClosed() {
    return closed;
  }

  Intracomm commWorld() {
    int[] all = IntStream.range(0, engine.size()).toArray();
    return new Intracomm(this, new Group(all, engine.rank()), 0);
  }

  Intracomm commSelf() {
    return new Intracomm(this, new Group(new int[] {engine.rank()}, engine.rank()), 1);
  }

  /** What the launcher does for ranks that continue after others. */
  FailureControl failures(String call) {
    if (failures == null) {
      throw new MPIException(
          MPIException.ERR_OTHER,
          call + ": the job ends with the first rank that fails; see mpirun -on-failure notify");
    }
    return failures;
  }

  /** Notes a communicator, and whom a receive from any rank of it waits for. */
  void opened(Comm comm) {
    if (failures == null) {
      return;
    }
    engine.members(2 * comm.id(), comm.peers().worldRanks());
    revocable.put(comm.id(), comm);
    if (revoked.contains(comm.id())) {
      comm.revokedHere();
    }
  }

  private void revoked(int id) {
    revoked.add(id);
    Comm comm = revocable.get(id);
    if (comm != null) {
      comm.revokedHere();
    }
  }

  /** Gives an id back; if operations wait there, with a communicator that is freed later. */
  void release(int id) {
    revocable.remove(id);
    synchronized (leaving) {
      leaving.add(id);
      leaving.removeIf(this::releaseUnlessAwaited);
    }
  }

  private boolean releaseUnlessAwaited(int id) {
    if (engine.isAwaited(2 * id)) {
      return false;
    }
    engine.release(2 * id);
    engine.release(2 * id + 1);
    engine.release(Device.BESIDE + 2 * id);
    engine.release(Device.BESIDE + 2 * id + 1);
    ids.release(id);
    return true;
  }

  /** Ends the job: other ranks would wait for this one, whose program may compute for long. */
  private void progressFailed(Throwable failure) {
    failure.printStackTrace();
    job.abort(
        1,
        "rank "
            + engine.rank()
            + ": the thread that makes progress while it computes failed: "
            + failure);
  }

  void abort(int code) {
    int status = code & 0xff;
    job.abort(status == 0 ? 1 : status, "rank " + engine.rank() + " called Abort(" + code + ")");
  }

  void close() {
    try {
      buffered.detach();
    } catch (MPIException e) {
      if (failures == null) {
        throw e;
      }
      // Messages to a rank that has failed, or on what was revoked, are lost with it.
    }
    engine.flush();
    job.finish(engine);
    closed = true;
    windows.close();
    if (progress != null) {
      progress.close();
    }
    engine.close();
  }
}
