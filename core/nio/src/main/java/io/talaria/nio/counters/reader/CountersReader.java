// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.reader;

import static io.talaria.nio.counters.file.CountersLayout.RECORD_BYTES;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.AddressCodec;
import io.talaria.nio.counters.file.Counter;
import io.talaria.nio.counters.file.CountersFiles;
import io.talaria.nio.counters.file.CountersFormatException;
import io.talaria.nio.counters.file.CountersHeader;
import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.counters.file.ProcessCounter;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.counters.file.SelectorCounter;
import io.talaria.nio.counters.file.SelectorTotals;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads counters files from outside the processes that write them.
 *
 * <p>A file is copied with plain reads, never mapped, and everything in the copy is checked before
 * use: whatever a file holds, and however it changes meanwhile, ends in a result or in an {@link
 * IOException} that says what is wrong. Any thread may call it; an interrupt fails the call.
 */
public final class CountersReader {
  /** How long a file's records that are being written are waited for, all together. */
  private static final long SETTLE_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final long LOOK_AGAIN_NS = TimeUnit.MICROSECONDS.toNanos(20);

  /** If connections close while a file is read, it is read again, at most so often in all. */
  private static final int MAX_TRIES = 8;

  private CountersReader() {}

  /**
   * Reads the counters files of a directory and leaves out dead processes.
   *
   * @param dir the run-time directory
   * @return what they say; empty if there is no such directory
   * @throws IOException if the directory cannot be listed
   */
  public static DirectoryReport readDirectory(Path dir) throws IOException {
    List<ProcessInfo> processes = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (Path file : CountersFiles.list(dir)) {
      try {
        ProcessInfo process = read(file);
        if (process.liveness() == Liveness.LIVE || process.liveness() == Liveness.OTHER_NAMESPACE) {
          processes.add(process);
        }
      } catch (NoSuchFileException e) {
        // The process has ended since the directory was listed.
      } catch (IOException e) {
        problems.add(e instanceof CountersFormatException ? e.getMessage() : file + ": " + e);
      }
    }
    processes.sort(Comparator.comparingLong(ProcessInfo::pid));
    return new DirectoryReport(List.copyOf(processes), List.copyOf(problems));
  }

  /**
   * Reads one counters file.
   *
   * @param file a file; links are not followed
   * @return what it says
   * @throws CountersFormatException if it makes no sense
   * @throws IOException if it cannot be read
   */
  public static ProcessInfo read(Path file) throws IOException {
    return read(file, SETTLE_NS);
  }

  public static ProcessInfo read(Path file, long settleNs) throws IOException {
    try (FileChannel channel = CountersFiles.open(file)) {
      CountersHeader header = CountersHeader.read(file, channel);
      Liveness liveness =
          Liveness.of(header.pid(), header.startTicks(), header.pidNamespace(), header.bootId());
      Records records = new Records(settleNs);
      records.read(file, channel, header.used());
      for (int tries = 1; tries < MAX_TRIES && moved(header, file, channel); tries++) {
        header = CountersHeader.read(file, channel);
        records = new Records(settleNs);
        records.read(file, channel, header.used());
      }
      return new ProcessInfo(
          file,
          header.pid(),
          header.startTicks(),
          header.pidNamespace(),
          header.bootId(),
          liveness,
          header.openedAtMs(),
          header.talariaVersion(),
          header.javaVersion(),
          header.program(),
          header.command(),
          header.ucxUnavailableReason(),
          ProcessTotals.of(
              header.process(), header.refused(), records.connections, records.selectors),
          List.copyOf(records.connections),
          header.unlisted(),
          records.damaged);
    }
  }

  /** Whether counts may have moved from the records to the sums of this header since. */
  private static boolean moved(CountersHeader header, Path file, FileChannel channel)
      throws IOException {
    long moves = ProcessCounter.MOVES.in(header.process());
    long now = ProcessCounter.MOVES.in(CountersHeader.read(file, channel).process());
    return (moves & 1) != 0 || moves != now;
  }

  /** Collects the records of one file. Confined to one call. */
  private static final class Records {
    final List<ConnectionInfo> connections = new ArrayList<>();
    SelectorTotals selectors = SelectorTotals.NONE;
    int damaged;
    private long settleLeftNs;

    Records(long settleNs) {
      this.settleLeftNs = settleNs;
    }

    void read(Path file, FileChannel channel, int used) throws IOException {
      ByteBuffer first = copy(file, channel, 0, used);
      ByteBuffer second = copy(file, channel, 0, used);
      for (int i = 0; i < used; i++) {
        ByteBuffer record = record(first, i);
        int version = second.getInt(i * RECORD_BYTES + CountersLayout.R_VERSION);
        if (!isStable(record, version)) {
          record = settle(file, channel, i);
        }
        if (record == null) {
          damaged++;
        } else {
          take(record);
        }
      }
      connections.sort(Comparator.comparingLong(ConnectionInfo::id));
    }

    private static boolean isStable(ByteBuffer record, int versionAfter) {
      int version = record.getInt(CountersLayout.R_VERSION);
      return version == versionAfter && (version & 1) == 0;
    }

    /** Looks at one record until it holds still; null if it does not. */
    private ByteBuffer settle(Path file, FileChannel channel, int index) throws IOException {
      long start = System.nanoTime();
      ByteBuffer before = copy(file, channel, index, 1);
      while (true) {
        ByteBuffer after = copy(file, channel, index, 1);
        if (isStable(before, after.getInt(CountersLayout.R_VERSION))) {
          return before;
        }
        long nowNs = System.nanoTime();
        settleLeftNs -= nowNs - start;
        start = nowNs;
        if (settleLeftNs <= 0) {
          return null;
        }
        before = after;
        LockSupport.parkNanos(LOOK_AGAIN_NS);
      }
    }

    private static ByteBuffer copy(Path file, FileChannel channel, int index, int count)
        throws IOException {
      ByteBuffer copy = ByteBuffer.allocate(count * RECORD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      int got = CountersHeader.readFully(channel, copy, CountersLayout.recordOffset(index));
      if (got < copy.capacity()) {
        throw new CountersFormatException(
            file, "became shorter while it was read, in record " + (index + got / RECORD_BYTES));
      }
      return copy;
    }

    private static ByteBuffer record(ByteBuffer copy, int index) {
      return copy.slice(index * RECORD_BYTES, RECORD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void take(ByteBuffer record) {
      int state = record.getInt(CountersLayout.R_STATE);
      if (state == CountersLayout.STATE_FREE) {
        return;
      }
      int role = Byte.toUnsignedInt(record.get(CountersLayout.R_ROLE));
      if (state == CountersLayout.STATE_LIVE && role == CountersLayout.ROLE_SELECTOR) {
        selectors =
            selectors.plus(
                SelectorCounter.SELECTS.in(record),
                SelectorCounter.INNER_SELECTS.in(record),
                SelectorCounter.WAKE_UPS.in(record));
        return;
      }
      ConnectionInfo connection =
          state == CountersLayout.STATE_LIVE ? connection(record, role) : null;
      if (connection == null) {
        damaged++;
      } else {
        connections.add(connection);
      }
    }

    /** What a record says, or null if it makes no sense. */
    private static ConnectionInfo connection(ByteBuffer record, int roleNumber) {
      Role role = Role.ofNumber(roleNumber);
      NioTransport transport =
          NioTransport.ofNumber(Byte.toUnsignedInt(record.get(CountersLayout.R_TRANSPORT)));
      Reason reason =
          Reason.ofNumber(Short.toUnsignedInt(record.getShort(CountersLayout.R_REASON)));
      int transportBytes = Byte.toUnsignedInt(record.get(CountersLayout.R_DETAIL));
      if (role == null
          || transport == null
          || reason == null
          || transportBytes >= CountersLayout.DETAIL_BYTES) {
        return null;
      }
      return new ConnectionInfo(
          record.getLong(CountersLayout.R_ID),
          role,
          transport,
          reason,
          CountersHeader.printable(record, CountersLayout.R_DETAIL + 1, transportBytes),
          AddressCodec.get(record, CountersLayout.R_LOCAL),
          AddressCodec.get(record, CountersLayout.R_REMOTE),
          record.getLong(CountersLayout.R_OPENED_AT),
          Counter.ACCELERATED_IN.in(record),
          Counter.ACCELERATED_OUT.in(record),
          Counter.TCP_IN.in(record),
          Counter.TCP_OUT.in(record),
          Counter.READS.in(record),
          Counter.WRITES.in(record),
          Counter.STALLS.in(record),
          Counter.WAKEUPS_SENT.in(record),
          Counter.WAKEUPS_RECEIVED.in(record),
          Counter.SLEEPS.in(record),
          record.getInt(CountersLayout.R_RING_IN),
          record.getInt(CountersLayout.R_RING_OUT));
    }
  }
}
