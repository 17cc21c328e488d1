// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The layout of a counters file: {@code <pid>-<start time>.counters} in the run-time directory.
 *
 * <p>All numbers are little-endian and lie at multiples of their size. The process that the file
 * speaks of is its only writer; readers copy and check. Times of day are milliseconds since 1970.
 *
 * <pre>
 * file     0          4096              4352                                4096 + 256 * capacity
 *          +-----------+-----------------+-----------------+-- ... --+-----------------+
 *          |  header   |    record 0     |    record 1     |         | record capacity-1
 *          +-----------+-----------------+-----------------+-- ... --+-----------------+
 *
 * header      0 | magic "TALCNTRS"              8 | version    4 | header length   4 |
 *            16 | record length   4 | zero 4 | process id           8 |
 *            32 | start time of the process, clock ticks since boot (/proc/PID/stat 22) 8 |
 *            40 | pid namespace (inode)         8 | opened at                       8 |
 *            56 | boot id, upper                8 | boot id, lower                  8 |
 *            72 | capacity        4 | used      4 | sequence                        8 |
 *            88 | unlisted: open connections for which the file has no room          8 |
 *           128 | 32 process values, 8 each (ProcessCounter, Counter)              256 |
 *           512 | offers refused, by reason number, 64 values of 8                 512 |
 *          1024 | Talaria version               text, 64 |
 *          1088 | Java version                  text, 192 |
 *          1280 | program                       text, 256 |
 *          1536 | command line                  text, 1024 |
 *          to 4096 zeros
 *
 * record      0 | version         4 | state     4 | id                              8 |  cold
 *            16 | generation      4 | role 1 | transport 1 | reason 2 | opened at        8 |
 *            32 | local:  family 1, zero 1, port 2, scope 4, address 16            24 |
 *            56 | remote: the same                                                 24 |
 *            80 | ring in, bytes  4 | ring out  4 | detail        text of 1 + 39  |
 *           128 | bytes in by transport            8 | bytes in by TCP               8 |  the reader's
 *           144 | reads                         8 | doorbells received                8 |  cache line
 *           160 | sleeps                        8 |
 *           192 | bytes out by transport           8 | bytes out by TCP              8 |  the writer's
 *           208 | writes                        8 | stalls                        8 |  cache line
 *           224 | doorbells sent                    8 |
 * </pre>
 *
 * <p>The record of a selector (role {@link #ROLE_SELECTOR}) uses the cold fields and, from 128,
 * selects, inner selects, an unused value and wake-ups.
 *
 * <p>The magic and what lies from 24 to 71, which say whose file it is, are the same in all
 * versions.
 *
 * <p>A text is its length in bytes (2 bytes in the header, 1 in a record) and then UTF-8. A port is
 * an unsigned 16-bit number; the family is 0 (none), 4 or 6; an IPv4 address uses the first 4
 * bytes.
 *
 * <p>A record's version is odd while its cold fields are being written, and changes each time. A
 * reader that finds the same even version before and after its copy has a consistent copy. The
 * counting fields are stored one by one, each whole. {@code used} is one more than the highest
 * record ever used; {@code capacity} grows once new records have been filled with zeros. {@code
 * sequence} changes whenever any cold field does.
 */
public final class CountersLayout {
  /** "TALCNTRS", read as a little-endian number. */
  public static final long MAGIC = 0x5352544E434C4154L;

  /** The version this class describes. */
  public static final int VERSION = 1;

  /** Bytes before the first record. */
  public static final int HEADER_BYTES = 4096;

  /** Bytes of a record. */
  public static final int RECORD_BYTES = 256;

  /** Records by which a file grows. */
  public static final int CHUNK_RECORDS = 256;

  /** The most records a file may have; connections beyond are counted on the heap only. */
  public static final int MAX_RECORDS = 65_536;

  public static final String SUFFIX = ".counters";

  public static final int H_MAGIC = 0;
  public static final int H_VERSION = 8;
  public static final int H_HEADER_BYTES = 12;
  public static final int H_RECORD_BYTES = 16;
  public static final int H_PID = 24;
  public static final int H_START_TICKS = 32;
  public static final int H_PID_NAMESPACE = 40;
  public static final int H_OPENED_AT = 48;
  public static final int H_BOOT_ID_UPPER = 56;
  public static final int H_BOOT_ID_LOWER = 64;
  public static final int H_CAPACITY = 72;
  public static final int H_USED = 76;
  public static final int H_SEQUENCE = 80;
  public static final int H_UNLISTED = 88;
  public static final int H_PROCESS = 128;
  public static final int H_REFUSED = 512;
  public static final int H_TALARIA_VERSION = 1024;
  public static final int H_JAVA_VERSION = 1088;
  public static final int H_PROGRAM = 1280;
  public static final int H_COMMAND = 1536;

  /** Why UCX cannot be used, written at most once; zeros if it can, or is not asked for. */
  public static final int H_UCX_UNAVAILABLE = 2560;

  public static final int TALARIA_VERSION_BYTES = 64;
  public static final int JAVA_VERSION_BYTES = 192;
  public static final int PROGRAM_BYTES = 256;
  public static final int COMMAND_BYTES = 1024;
  public static final int UCX_UNAVAILABLE_BYTES = 1024;

  public static final int REASONS = 64;

  public static final int PROCESS_VALUES = 32;

  /** From here each {@link Counter} of connections already closed. */
  public static final int PROCESS_CLOSED_TOTALS = 16;

  public static final int STATE_FREE = 0;
  public static final int STATE_LIVE = 1;

  /** The role number of a selector's record; connections have those of {@code Role}. */
  public static final int ROLE_SELECTOR = 100;

  public static final int R_VERSION = 0;
  public static final int R_STATE = 4;
  public static final int R_ID = 8;
  public static final int R_GENERATION = 16;
  public static final int R_ROLE = 20;
  public static final int R_TRANSPORT = 21;
  public static final int R_REASON = 22;
  public static final int R_OPENED_AT = 24;
  public static final int R_LOCAL = 32;
  public static final int R_REMOTE = 56;
  public static final int R_RING_IN = 80;
  public static final int R_RING_OUT = 84;
  public static final int R_DETAIL = 88;
  public static final int DETAIL_BYTES = 40;

  /**
   * From here what is counted: of a connection each {@link Counter}, of a selector each {@link
   * SelectorCounter}.
   */
  public static final int R_COUNTS = 128;

  public static final int ADDRESS_FAMILY = 0;
  public static final int ADDRESS_PORT = 2;
  public static final int ADDRESS_SCOPE = 4;
  public static final int ADDRESS_BYTES = 8;

  /** Plain, opaque, release and volatile access to the 8-byte fields of a direct buffer. */
  public static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Plain, opaque, release and volatile access to the 4-byte fields of a direct buffer. */
  public static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final byte[] ZEROS = new byte[COMMAND_BYTES];

  private CountersLayout() {}

  /**
   * The name of a process's counters file.
   *
   * @param pid process id
   * @param startTicks start time of the process in clock ticks since boot
   * @param copy 0, or a number that tells several Talarias of one process apart
   * @return a file name without directory
   */
  public static String fileName(long pid, long startTicks, int copy) {
    return pid + "-" + startTicks + (copy == 0 ? "" : "-" + copy) + SUFFIX;
  }

  public static long recordOffset(int index) {
    return HEADER_BYTES + (long) index * RECORD_BYTES;
  }

  /** Writes a text with a 2-byte length, cut at {@code lengthBytes}. The rest becomes zeros. */
  public static void putHeaderText(ByteBuffer buffer, int offset, int lengthBytes, String text) {
    byte[] bytes = encode(text, lengthBytes - 2);
    putBytes(buffer, offset + 2, lengthBytes - 2, bytes);
    VarHandle.releaseFence(); // a reader of a file in use sees nothing, or all
    buffer.putShort(offset, (short) bytes.length);
  }

  /** Writes a text with a 1-byte length, cut at {@code lengthBytes}. The rest becomes zeros. */
  public static void putRecordText(ByteBuffer buffer, int offset, int lengthBytes, String text) {
    byte[] bytes = encode(text, lengthBytes - 1);
    buffer.put(offset, (byte) bytes.length);
    putBytes(buffer, offset + 1, lengthBytes - 1, bytes);
  }

  private static void putBytes(ByteBuffer buffer, int offset, int lengthBytes, byte[] bytes) {
    buffer.put(offset, bytes);
    putZeros(buffer, offset + bytes.length, lengthBytes - bytes.length);
  }

  /** Writes zeros, at most {@link #COMMAND_BYTES}. */
  static void putZeros(ByteBuffer buffer, int offset, int lengthBytes) {
    buffer.put(offset, ZEROS, 0, lengthBytes);
  }

  /** Writes zeros over all cold fields of a record that say what it is, from its role on. */
  public static void clearDescription(ByteBuffer record) {
    putZeros(record, R_ROLE, R_COUNTS - R_ROLE);
  }

  /** UTF-8, cut so that no character is broken. */
  private static byte[] encode(String text, int maxBytes) {
    String cut = text;
    byte[] bytes = cut.getBytes(StandardCharsets.UTF_8);
    while (bytes.length > maxBytes) {
      int chars = Math.min(cut.length() - 1, maxBytes);
      if (chars > 0 && Character.isHighSurrogate(cut.charAt(chars - 1))) {
        chars--;
      }
      cut = cut.substring(0, chars);
      bytes = cut.getBytes(StandardCharsets.UTF_8);
    }
    return bytes;
  }
}
