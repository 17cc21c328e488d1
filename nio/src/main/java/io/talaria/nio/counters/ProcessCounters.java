// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static io.talaria.nio.counters.file.CountersLayout.INT;
import static io.talaria.nio.counters.file.CountersLayout.LONG;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.Counter;
import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.counters.file.SelectorTotals;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * All counters of this process, and the file through which other programs read them.
 *
 * <p>Any thread may call any method. The methods take a lock for a short time and do no file work:
 * making, growing and removing the file is left to the executor given, whose thread must not be one
 * the program can interrupt. Until the file has room for a record, and for good when there can be
 * no file, the record lives on the heap only; counting works all the same.
 */
public final class ProcessCounters implements AutoCloseable {
  private static final int REFILL_BELOW_RECORDS = 64;

  private static volatile ProcessCounters current;

  /** Guards everything here and the cold fields of all records. */
  final Object lock = new Object();

  /** Held while the file is made, so that {@link #close} removes it or it is never made. */
  private final Object making = new Object();

  private final Executor fileWork;
  private final long[] process = new long[CountersLayout.PROCESS_VALUES];
  private final long[] refused = new long[CountersLayout.REASONS];
  private final Map<Long, ConnectionCounters> connections = new LinkedHashMap<>();
  private final Map<Long, SelectorCounters> selectors = new LinkedHashMap<>();

  /** Open records without room in the file, oldest first. */
  private final Set<CounterRecord> unlisted = new LinkedHashSet<>();

  private final List<ByteBuffer> chunks = new ArrayList<>();

  /**
   * Records given back, the longest unused first, so that a straggling store rarely meets a new
   * owner.
   */
  private final ArrayDeque<Integer> free = new ArrayDeque<>();

  private long nextId = 1;
  private long sequence;
  private int used;
  private ByteBuffer header;
  private Path path;
  private String problem;
  private boolean growing;
  private boolean closed;

  /** Null until it is made, and again once it is closed. Its methods are for file work only. */
  private CountersFile file;

  private ProcessCounters(Executor fileWork, String problem) {
    this.fileWork = fileWork;
    this.problem = problem;
  }

  /**
   * Starts counting, with a file in the given directory. Never throws: where the file cannot be
   * made, {@link #problem} says why and the counters live on the heap.
   *
   * @param runtimeDir the run-time directory; it must exist by the time the file work is done
   * @param fileWork runs short file work, one task after the other, on a thread nobody interrupts
   * @return the counters of this process
   */
  public static ProcessCounters open(Path runtimeDir, Executor fileWork) {
    ProcessCounters counters = new ProcessCounters(fileWork, null);
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
    return new ProcessCounters(Runnable::run, problem);
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
   * Starts counting for a connection or listener, in mode TCP with reason {@link Reason#PENDING}.
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
      add(CountersLayout.PROCESS_OPENED, 1);
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
      add(CountersLayout.PROCESS_OFFERS_MADE, 1);
    }
  }

  /** Counts an upgrade that a peer asked this process for. */
  public void offerReceived() {
    synchronized (lock) {
      add(CountersLayout.PROCESS_OFFERS_RECEIVED, 1);
    }
  }

  /** Counts an upgrade that this process asked for and got. */
  public void acceptedByPeer() {
    synchronized (lock) {
      add(CountersLayout.PROCESS_ACCEPTED_BY_PEER, 1);
    }
  }

  /** Counts an upgrade that this process granted. */
  public void acceptedByUs() {
    synchronized (lock) {
      add(CountersLayout.PROCESS_ACCEPTED_BY_US, 1);
    }
  }

  /**
   * Counts an upgrade that did not come about, on either side.
   *
   * @param reason why
   */
  public void refused(Reason reason) {
    synchronized (lock) {
      int number = reason.number();
      long total = ++refused[number];
      if (header != null) {
        LONG.setOpaque(header, CountersLayout.H_REFUSED + number * Long.BYTES, total);
      }
    }
  }

  /** Counts the start of a session with a peer process. */
  public void sessionOpened() {
    synchronized (lock) {
      add(CountersLayout.PROCESS_SESSIONS, 1);
      add(CountersLayout.PROCESS_SESSIONS_OPENED, 1);
    }
  }

  /** Counts the end of a session with a peer process. */
  public void sessionClosed() {
    synchronized (lock) {
      add(CountersLayout.PROCESS_SESSIONS, -1);
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
      return ProcessTotals.of(process, refused, snapshot(), selectorTotals());
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
   * Removes the file; counting goes on, seen by this process only. Unlike the other methods it does
   * the file work on the calling thread, so that it can be called from a shutdown hook. Closing
   * again changes nothing.
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
    CountersFile created;
    synchronized (making) {
      if (closed()) {
        return;
      }
      try {
        created = CountersFile.create(dir);
      } catch (IOException | RuntimeException | Error e) {
        fail("cannot make a counters file in " + dir + ": " + e);
        return;
      }
      adopt(created);
    }
    grow(created);
  }

  private boolean closed() {
    synchronized (lock) {
      return closed;
    }
  }

  private void adopt(CountersFile created) {
    synchronized (lock) {
      file = created;
      path = created.path();
      header = created.header();
      publishHeader();
      growing = true;
    }
  }

  private void grow(CountersFile target) {
    ByteBuffer chunk;
    try {
      chunk = target.grow();
    } catch (IOException | RuntimeException | Error e) {
      synchronized (lock) {
        // "growing" stays true: a full disk is not asked again.
        if (!closed) {
          problem = "cannot enlarge " + target.path() + ": " + e;
        }
      }
      return;
    }
    synchronized (lock) {
      growing = false;
      chunks.add(chunk);
      INT.setRelease(header, CountersLayout.H_CAPACITY, capacity());
      for (CounterRecord waiting : List.copyOf(unlisted)) {
        list(waiting);
      }
    }
  }

  // Records; all under the lock

  private int capacity() {
    return chunks.size() * CountersLayout.CHUNK_RECORDS;
  }

  /** Gives an open record its place in the file, now or when there is room. */
  private void list(CounterRecord record) {
    Integer index = free.poll();
    if (index == null && used < capacity()) {
      index = used++;
      INT.setRelease(header, CountersLayout.H_USED, used);
    }
    if (index == null) {
      unlisted.add(record);
    } else {
      unlisted.remove(record);
      record.index = index;
      ByteBuffer place = recordAt(index);
      describeAt(record, place, CountersLayout.STATE_LIVE);
      record.publish(chunkOf(index), placeOf(index));
      // A count made meanwhile went nowhere: write all again, now that the next one goes to the
      // file.
      VarHandle.fullFence();
      record.writeCounts(place);
    }
    publishUnlisted();
    growIfLow();
  }

  private void growIfLow() {
    CountersFile target = file;
    int capacity = capacity();
    if (target != null
        && !growing
        && !closed
        && capacity - used + free.size() < REFILL_BELOW_RECORDS
        && capacity < CountersLayout.MAX_RECORDS) {
      growing = true;
      submit(() -> grow(target));
    }
  }

  private ByteBuffer recordAt(int index) {
    return chunkOf(index)
        .slice(placeOf(index), CountersLayout.RECORD_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  private ByteBuffer chunkOf(int index) {
    return chunks.get(index / CountersLayout.CHUNK_RECORDS);
  }

  private static int placeOf(int index) {
    return index % CountersLayout.CHUNK_RECORDS * CountersLayout.RECORD_BYTES;
  }

  /** Writes the cold fields of a record that has changed. */
  void describe(CounterRecord changed) {
    if (!changed.closed && changed.index != CounterRecord.NO_INDEX) {
      describeAt(changed, recordAt(changed.index), CountersLayout.STATE_LIVE);
    }
  }

  private void describeAt(CounterRecord record, ByteBuffer to, int state) {
    // The version is only ever written here, so reading it back gives what was written.
    int version = (int) INT.getOpaque(to, CountersLayout.R_VERSION) | 1;
    INT.setOpaque(to, CountersLayout.R_VERSION, version);
    VarHandle.storeStoreFence();
    record.writeDescription(to);
    boolean takesOver = to.getLong(CountersLayout.R_ID) != record.id;
    to.putLong(CountersLayout.R_ID, record.id);
    to.putLong(CountersLayout.R_OPENED_AT, record.openedAtMs);
    if (takesOver) {
      to.putInt(CountersLayout.R_GENERATION, to.getInt(CountersLayout.R_GENERATION) + 1);
      for (int at = CountersLayout.R_COUNTS; at < CountersLayout.RECORD_BYTES; at += Long.BYTES) {
        LONG.setOpaque(to, at, 0L);
      }
      record.writeCounts(to);
    }
    to.putInt(CountersLayout.R_STATE, state);
    INT.setRelease(to, CountersLayout.R_VERSION, version + 1);
    touch();
  }

  boolean closeConnection(ConnectionCounters record) {
    synchronized (lock) {
      if (record.closed) {
        return false;
      }
      connections.remove(record.id);
      add(CountersLayout.PROCESS_CLOSED, 1);
      ConnectionInfo last = record.info();
      for (Counter counter : Counter.values()) {
        add(counter.closedTotal(), counter.of(last));
      }
      unlist(record);
      return true;
    }
  }

  void closeSelector(SelectorCounters record) {
    synchronized (lock) {
      if (record.closed) {
        return;
      }
      selectors.remove(record.id);
      add(CountersLayout.PROCESS_SELECTORS_CLOSED, 1);
      add(CountersLayout.PROCESS_CLOSED_SELECTS, record.selects());
      add(CountersLayout.PROCESS_CLOSED_INNER_SELECTS, record.innerSelects());
      add(CountersLayout.PROCESS_CLOSED_WAKE_UPS, record.wakeUps());
      unlist(record);
    }
  }

  private void unlist(CounterRecord record) {
    record.closed = true;
    if (record.index == CounterRecord.NO_INDEX) {
      unlisted.remove(record);
      publishUnlisted();
    } else {
      describeAt(record, recordAt(record.index), CountersLayout.STATE_FREE);
      record.withdraw();
      free.add(record.index);
      record.index = CounterRecord.NO_INDEX;
      if (!unlisted.isEmpty()) {
        list(unlisted.iterator().next());
      }
    }
  }

  // Header; all under the lock

  private void add(int value, long amount) {
    process[value] += amount;
    if (header != null) {
      LONG.setOpaque(header, CountersLayout.H_PROCESS + value * Long.BYTES, process[value]);
    }
  }

  private void touch() {
    sequence++;
    if (header != null) {
      LONG.setOpaque(header, CountersLayout.H_SEQUENCE, sequence);
    }
  }

  private void publishUnlisted() {
    if (header != null) {
      LONG.setOpaque(header, CountersLayout.H_UNLISTED, (long) unlisted.size());
    }
  }

  private void publishHeader() {
    for (int i = 0; i < process.length; i++) {
      add(i, 0);
    }
    for (int i = 0; i < refused.length; i++) {
      LONG.setOpaque(header, CountersLayout.H_REFUSED + i * Long.BYTES, refused[i]);
    }
    publishUnlisted();
    touch();
  }
}
