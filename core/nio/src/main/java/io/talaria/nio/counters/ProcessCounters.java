// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.Counter;
import io.talaria.nio.counters.file.ProcessCounter;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.counters.file.SelectorCounter;
import io.talaria.nio.counters.file.SelectorTotals;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * All counters of this process, and the file through which other programs read them: what is open,
 * and the life of the file. What the file says is written by {@link HeaderCounters} and {@link
 * RecordTable}.
 *
 * <p>Any thread may call any method. The methods take a lock for a short time and do no file work:
 * making, growing and removing the file is left to the executor given, whose thread must not be one
 * the program can interrupt. Until the file has room for a record, and for good when there can be
 * no file, the record lives on the heap only; counting works all the same.
 */
public final class ProcessCounters implements AutoCloseable {
  private static volatile ProcessCounters current;

  /** Guards everything here and the cold fields of all records. */
  final Object lock = new Object();

  /** Held while the file is made, so that {@link #close} removes it or it is never made. */
  private final Object making = new Object();

  private final Executor fileWork;
  private final Consumer<String> problems;
  private final HeaderCounters header = new HeaderCounters(lock);
  private final RecordTable records = new RecordTable(lock, header);
  private final Map<Long, ConnectionCounters> connections = new LinkedHashMap<>();
  private final Map<Long, SelectorCounters> selectors = new LinkedHashMap<>();

  private long nextId = 1;
  private Path path;
  private String problem;
  private boolean growing;
  private boolean closed;

  /** Null until it is made, and again once it is closed. Its methods are for file work only. */
  private CountersFile file;

  private ProcessCounters(Executor fileWork, Consumer<String> problems, String problem) {
    this.fileWork = fileWork;
    this.problems = problems;
    this.problem = problem;
  }

  /**
   * Starts counting as {@link #open(Path, Executor, Consumer)} does, without reporting problems.
   */
  public static ProcessCounters open(Path runtimeDir, Executor fileWork) {
    return open(runtimeDir, fileWork, problem -> {});
  }

  /**
   * Starts counting, with a file in the given directory. Never throws: where the file cannot be
   * made, {@link #problem} says why and the counters live on the heap.
   *
   * @param runtimeDir the run-time directory; it must exist by the time the file work is done
   * @param fileWork runs short file work, one task after the other, on a thread that is never
   *     interrupted
   * @param problems is told once why the file could not be made or enlarged, by the file work and
   *     without a lock held; it must not throw
   * @return the counters of this process
   */
  public static ProcessCounters open(
      Path runtimeDir, Executor fileWork, Consumer<String> problems) {
    ProcessCounters counters = new ProcessCounters(fileWork, problems, null);
    counters.submit(() -> counters.create(runtimeDir));
    return counters;
  }

  /**
   * Starts counting on the heap only.
   *
   * @param problem why there is no file, for people
   * @return counters that work and that no other program can read
   */
  public static ProcessCounters onHeap(String problem) {
    return new ProcessCounters(Runnable::run, text -> {}, problem);
  }

  /**
   * The counters that {@link io.talaria.nio.Connections} and JMX speak of.
   *
   * @return those last given to {@link #makeCurrent}, or null
   */
  public static ProcessCounters current() {
    return current;
  }

  /** Makes these the counters that {@link io.talaria.nio.Connections} and JMX speak of. */
  public void makeCurrent() {
    current = this;
  }

  /**
   * Removes what dead processes have left in a directory: counters files whose process is gone, or
   * whose process id has been given to another. Leaves alone what it cannot judge. Does file work:
   * not for the program's threads. Never throws.
   *
   * @param dir the run-time directory
   * @return how many named files were removed
   */
  public static int sweep(Path dir) {
    return CountersSweep.sweep(dir);
  }

  /**
   * Starts counting for a connection or listener, on transport TCP with reason {@link
   * Reason#PENDING}.
   *
   * @param role which side it is
   * @param local local address, or null if not yet known
   * @param remote remote address, or null if there is none or it is not yet known
   * @return counters that the channel owns and must close
   */
  public ConnectionCounters connection(Role role, SocketAddress local, SocketAddress remote) {
    long now = System.currentTimeMillis();
    synchronized (lock) {
      ConnectionCounters opened = new ConnectionCounters(this, nextId++, now, role, local, remote);
      connections.put(opened.id, opened);
      header.add(ProcessCounter.OPENED, 1);
      list(opened);
      return opened;
    }
  }

  /**
   * Starts counting for a selector.
   *
   * @return counters that the selector owns and must close
   */
  public SelectorCounters selector() {
    long now = System.currentTimeMillis();
    synchronized (lock) {
      SelectorCounters opened = new SelectorCounters(this, nextId++, now);
      selectors.put(opened.id, opened);
      list(opened);
      return opened;
    }
  }

  /** Counts an upgrade that this process asked a peer for. */
  public void offerMade() {
    synchronized (lock) {
      header.add(ProcessCounter.OFFERS_MADE, 1);
    }
  }

  /** Counts an upgrade that a peer asked this process for. */
  public void offerReceived() {
    synchronized (lock) {
      header.add(ProcessCounter.OFFERS_RECEIVED, 1);
    }
  }

  /** Counts an upgrade that this process asked for and got. */
  public void acceptedByPeer() {
    synchronized (lock) {
      header.add(ProcessCounter.ACCEPTED_BY_PEER, 1);
    }
  }

  /** Counts an upgrade that this process granted. */
  public void acceptedByUs() {
    synchronized (lock) {
      header.add(ProcessCounter.ACCEPTED_BY_US, 1);
    }
  }

  /**
   * Counts an upgrade that did not come about, on either side.
   *
   * @param reason why
   */
  public void refused(Reason reason) {
    synchronized (lock) {
      header.refused(reason);
    }
  }

  /** Says why UCX, which is asked for, cannot be used in this process; the first time only. */
  public void ucxUnavailable(String why) {
    synchronized (lock) {
      header.ucxUnavailable(why);
    }
  }

  /** Counts a sleeper that had news and was not rung. */
  public void wakeupMissed() {
    synchronized (lock) {
      header.add(ProcessCounter.WAKEUPS_MISSED, 1);
    }
  }

  /** Counts the start of a session with a peer process. */
  public void sessionOpened() {
    synchronized (lock) {
      header.add(ProcessCounter.SESSIONS, 1);
      header.add(ProcessCounter.SESSIONS_OPENED, 1);
    }
  }

  /** Counts the end of a session with a peer process. */
  public void sessionClosed() {
    synchronized (lock) {
      header.add(ProcessCounter.SESSIONS, -1);
    }
  }

  /**
   * All connections and listeners that are open now, oldest first.
   *
   * @return a copy
   */
  public List<ConnectionInfo> snapshot() {
    synchronized (lock) {
      List<ConnectionInfo> all = new ArrayList<>(connections.size());
      for (ConnectionCounters connection : connections.values()) {
        all.add(connection.info());
      }
      return List.copyOf(all);
    }
  }

  /**
   * The totals of this process.
   *
   * @return a copy
   */
  public ProcessTotals totals() {
    synchronized (lock) {
      return ProcessTotals.of(header.process(), header.refused(), snapshot(), selectorTotals());
    }
  }

  private SelectorTotals selectorTotals() {
    SelectorTotals totals = SelectorTotals.NONE;
    for (SelectorCounters selector : selectors.values()) {
      totals = totals.plus(selector.selects(), selector.innerSelects(), selector.wakeUps());
    }
    return totals;
  }

  /**
   * The counters file.
   *
   * @return its path, or null while or when there is none
   */
  public Path path() {
    synchronized (lock) {
      return path;
    }
  }

  /**
   * Why there is no file, or none with room for more records.
   *
   * @return a sentence with the cause, or null if nothing is wrong
   */
  public String problem() {
    synchronized (lock) {
      return problem;
    }
  }

  /**
   * Removes the file; counting continues, seen by this process only. Unlike the other methods it
   * does the file work on the calling thread, so that it can be called from a shutdown hook.
   * Closing again changes nothing.
   */
  @Override
  public void close() {
    CountersFile removed;
    synchronized (making) {
      synchronized (lock) {
        if (closed) {
          return;
        }
        closed = true;
        removed = file;
        file = null;
        path = null;
      }
    }
    if (removed != null) {
      removeQuietly(removed);
    }
  }

  private static void removeQuietly(CountersFile file) {
    try {
      file.remove();
    } catch (IOException e) {
      // Nothing is left to do: the next process sweeps the file.
    }
  }

  // File work

  private void submit(Runnable work) {
    try {
      fileWork.execute(work);
    } catch (RuntimeException e) {
      fail("no thread for file work: " + e);
    }
  }

  private void fail(String why) {
    synchronized (lock) {
      problem = why;
    }
  }

  private void create(Path dir) {
    CountersFile created = null;
    String refused = null;
    synchronized (making) {
      if (closed()) {
        return;
      }
      try {
        created = StartFile.take(dir);
        if (created == null) {
          created = CountersFile.create(dir);
        }
        adopt(created, created.mapHeader());
      } catch (IOException | RuntimeException | Error e) {
        refused = "cannot make a counters file in " + dir + ": " + e;
        fail(refused);
        if (created != null) {
          removeQuietly(created);
        }
      }
    }
    if (refused != null) {
      problems.accept(refused);
    } else {
      grow(created);
    }
  }

  private boolean closed() {
    synchronized (lock) {
      return closed;
    }
  }

  private void adopt(CountersFile created, ByteBuffer mapped) {
    synchronized (lock) {
      file = created;
      path = created.path();
      header.publishTo(mapped);
      growing = true;
    }
  }

  private void grow(CountersFile target) {
    ByteBuffer chunk;
    try {
      chunk = target.grow();
    } catch (IOException | RuntimeException | Error e) {
      // "growing" stays true: a full disk is not asked again.
      if (!closed()) {
        String refused = "cannot enlarge " + target.path() + ": " + e;
        fail(refused);
        problems.accept(refused);
      }
      return;
    }
    synchronized (lock) {
      growing = false;
      records.grown(chunk);
      growIfLow();
    }
  }

  // Records

  private void growIfLow() {
    assert Thread.holdsLock(lock);
    CountersFile target = file;
    if (target != null && !growing && !closed && records.low()) {
      growing = true;
      submit(() -> grow(target));
    }
  }

  private void list(CounterRecord record) {
    records.list(record);
    growIfLow();
  }

  private void unlist(CounterRecord record) {
    records.unlist(record);
    growIfLow();
  }

  /** Writes the cold fields of a record that has changed; the lock is held. */
  void describe(CounterRecord changed) {
    records.describe(changed);
  }

  boolean closeConnection(ConnectionCounters record) {
    synchronized (lock) {
      if (record.closed) {
        return false;
      }
      connections.remove(record.id);
      header.moves();
      header.add(ProcessCounter.CLOSED, 1);
      ConnectionInfo last = record.info();
      for (Counter counter : Counter.values()) {
        header.addClosed(counter, counter.of(last));
      }
      unlist(record);
      header.moves();
      return true;
    }
  }

  void closeSelector(SelectorCounters record) {
    synchronized (lock) {
      if (record.closed) {
        return;
      }
      selectors.remove(record.id);
      header.moves();
      header.add(ProcessCounter.SELECTORS_CLOSED, 1);
      header.add(SelectorCounter.SELECTS.closedTotal(), record.selects());
      header.add(SelectorCounter.INNER_SELECTS.closedTotal(), record.innerSelects());
      header.add(SelectorCounter.WAKE_UPS.closedTotal(), record.wakeUps());
      unlist(record);
      header.moves();
    }
  }
}
