// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What a process has sent and received on each of its connections, in a mapped file that outlives
 * the process whatever kills it. A record is written after the call that it tells of has returned,
 * so it never says more than what happened.
 *
 * <pre>
 *  0       8         16        24       32         40
 *  +-------+---------+---------+--------+----------+---- ... 64
 *  | state | client  | server  | sent   | received |
 *  +-------+---------+---------+--------+----------+----
 * </pre>
 *
 * <p>An address is the IPv4 address and the port. Records of ended connections stay until their
 * place is needed. {@link #open} may be called by any thread; a record's sent by its writer, its
 * received by its reader.
 */
public final class Journal {
  private static final int RECORD_BYTES = 64;
  private static final int CLIENT = 8;
  private static final int SERVER = 16;
  private static final int SENT = 24;
  private static final int RECEIVED = 32;
  private static final long FREE = 0;
  private static final long LIVE = 1;
  private static final long ENDED = 2;
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer memory;
  private final int records;
  private int next;

  private Journal(ByteBuffer memory) {
    this.memory = memory;
    this.records = memory.capacity() / RECORD_BYTES;
  }

  /**
   * One connection of a process.
   *
   * @param client the address that connected
   * @param server the address that accepted
   * @param sentBytes what its writes have taken, at least
   * @param receivedBytes what its reads have given, at least
   */
  public record Entry(
      InetSocketAddress client, InetSocketAddress server, long sentBytes, long receivedBytes) {}

  /**
   * Makes the journal of this process.
   *
   * @param file does not exist yet
   * @param records how many connections it remembers; more than are open at once
   * @return an empty journal
   * @throws IOException if the file cannot be made
   */
  public static Journal create(Path file, int records) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocate(records * RECORD_BYTES);
      while (zeros.hasRemaining()) {
        channel.write(zeros);
      }
      return new Journal(
          channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) records * RECORD_BYTES));
    }
  }

  /**
   * Reads the journal of a process that has been killed.
   *
   * @param file its journal
   * @return all connections it remembers, in the order in which they were opened, as long as there
   *     have been no more than it has records
   * @throws IOException if the file cannot be read
   */
  public static List<Entry> read(Path file) throws IOException {
    ByteBuffer memory = ByteBuffer.wrap(Files.readAllBytes(file));
    memory.order(ByteOrder.nativeOrder());
    List<Entry> entries = new ArrayList<>();
    for (int at = 0; at + RECORD_BYTES <= memory.capacity(); at += RECORD_BYTES) {
      if (memory.getLong(at) != FREE) {
        entries.add(
            new Entry(
                address(memory.getLong(at + CLIENT)),
                address(memory.getLong(at + SERVER)),
                memory.getLong(at + SENT),
                memory.getLong(at + RECEIVED)));
      }
    }
    return entries;
  }

  /**
   * Begins the record of a connection.
   *
   * @param client the address that connected, IPv4
   * @param server the address that accepted, IPv4
   * @return its record, to be closed
   */
  public synchronized Line open(InetSocketAddress client, InetSocketAddress server) {
    for (int tried = 0; tried < records; tried++) {
      int at = next * RECORD_BYTES;
      next = (next + 1) % records;
      if (get(at) != LIVE) {
        set(at, FREE);
        set(at + CLIENT, word(client));
        set(at + SERVER, word(server));
        set(at + SENT, 0);
        set(at + RECEIVED, 0);
        set(at, LIVE);
        return new Line(at);
      }
    }
    throw new IllegalStateException("more than " + records + " connections at once");
  }

  private long get(int at) {
    return (long) WORDS.getAcquire(memory, at);
  }

  private void set(int at, long value) {
    WORDS.setRelease(memory, at, value);
  }

  private static long word(InetSocketAddress address) {
    ByteBuffer ip = ByteBuffer.wrap(address.getAddress().getAddress());
    return ((long) ip.getInt() << 16) | address.getPort();
  }

  private static InetSocketAddress address(long word) {
    try {
      byte[] ip = ByteBuffer.allocate(4).putInt((int) (word >> 16)).array();
      return new InetSocketAddress(InetAddress.getByAddress(ip), (int) (word & 0xffff));
    } catch (java.net.UnknownHostException e) {
      throw new IllegalStateException("four bytes are an address", e);
    }
  }

  /** The record of one connection. */
  public final class Line {
    private final int at;

    private Line(int at) {
      this.at = at;
    }

    /**
     * A write has returned.
     *
     * @param position bytes sent so far
     */
    public void sent(long position) {
      set(at + SENT, position);
    }

    /**
     * A read has returned.
     *
     * @param position bytes received so far
     */
    public void received(long position) {
      set(at + RECEIVED, position);
    }

    /** Both streams have ended. */
    public void close() {
      set(at, ENDED);
    }
  }
}
