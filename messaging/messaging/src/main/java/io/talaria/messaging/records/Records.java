// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.records;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads and writes the headers of records in a ring. Fields are little-endian, records 8-byte
 * aligned.
 *
 * <pre>
 *   all       length 4 (with this header, without the padding to 8) | type 2 | kind 1 | 0 1
 *   REQUEST   slot 4 | generation 4 | limit in µs 4 (0: none) | 0 4
 *   RESPONSE, FAILURE, CANCEL     slot 4 | generation 4
 *   BIG, BIG_OK, BIG_NO         stream 4 | total 4
 *   HOLD      receiver 4 (type in the table of the node that is told * 2, + 1 for requests) | number 4
 *   SLICE     stream 4 | offset 4 | total 4 | kind of the whole 4 | slot 4 | generation 4 | limit 4 | 0 4
 *   then      the payload
 *
 *   type      index in the sender's table of types, which the handshake has exchanged
 *   FAILURE   payload: code 1, then text in UTF-8
 *   BIG       asks for memory for a message of total bytes; BIG_OK grants it; BIG_NO: it is not sent
 *   HOLD      odd number: send nothing more for that receiver; even: continue. Counts up from 1
 *   GOODBYE   payload: none: asks to close the connection; or position 8, behind the last data record: agrees
 * </pre>
 */
public final class Records {
  public static final byte MESSAGE = 1;
  public static final byte REQUEST = 2;
  public static final byte RESPONSE = 3;
  public static final byte FAILURE = 4;
  public static final byte SLICE = 5;
  public static final byte CANCEL = 6;
  public static final byte PING = 7;
  public static final byte PONG = 8;
  public static final byte GOODBYE = 9;
  public static final byte STAY = 10;
  public static final byte BIG = 11;
  public static final byte BIG_OK = 12;
  public static final byte BIG_NO = 13;
  public static final byte HOLD = 14;

  /** The sender of a message or request of more bytes must first ask with BIG. */
  public static final int ASK_ABOVE = 1 << 20;

  /** How many smaller ones may be under way in slices at a time, per connection and direction. */
  public static final int MAX_UNASKED = 64;

  /** The limit of a request that the receiver never gives up of its own accord. */
  public static final int NO_LIMIT = 0;

  static final int HEADER = 8;
  public static final int RESPONSE_HEADER = 16;
  static final int REQUEST_HEADER = 24;
  public static final int SLICE_HEADER = 40;

  /** The offset of a slice that ends an incomplete message: no more of it is sent. */
  public static final int ABORT = -1;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int TYPE_AT = 4;
  private static final int KIND_AT = 6;
  private static final int SLOT_AT = 8;
  private static final int GENERATION_AT = 12;
  private static final int LIMIT_AT = 16;
  private static final int STREAM_AT = 8;
  private static final int OFFSET_AT = 12;
  private static final int TOTAL_AT = 16;
  private static final int WHOLE_AT = 20;
  private static final int SLICE_SLOT_AT = 24;

  private Records() {}

  public static int headerOf(byte kind) {
    return switch (kind) {
      case REQUEST -> REQUEST_HEADER;
      case RESPONSE, FAILURE, CANCEL, BIG, BIG_OK, BIG_NO, HOLD -> RESPONSE_HEADER;
      case SLICE -> SLICE_HEADER;
      default -> HEADER;
    };
  }

  /** The receiver of a message or request, as HOLD names it. */
  public static int what(int type, byte kind) {
    return type << 1 | (kind == REQUEST ? 1 : 0);
  }

  /** The kind of record that a receiver takes: the inverse of {@link #what}. */
  public static byte kindOf(int what) {
    return (what & 1) == 0 ? MESSAGE : REQUEST;
  }

  public static int aligned(int length) {
    return length + 7 & -8;
  }

  static void header(MemorySegment memory, long at, int type, byte kind) {
    memory.set(INT, at + TYPE_AT, (type & 0xffff) | (kind << 16));
  }

  static void response(MemorySegment memory, long at, int slot, int generation) {
    memory.set(INT, at + SLOT_AT, slot);
    memory.set(INT, at + GENERATION_AT, generation);
  }

  static void limit(MemorySegment memory, long at, int limitUs) {
    memory.set(INT, at + LIMIT_AT, limitUs);
    memory.set(INT, at + LIMIT_AT + 4, 0);
  }

  static void slice(MemorySegment memory, long at, int stream, int offset, int total, byte whole) {
    memory.set(INT, at + STREAM_AT, stream);
    memory.set(INT, at + OFFSET_AT, offset);
    memory.set(INT, at + TOTAL_AT, total);
    memory.set(INT, at + WHOLE_AT, whole);
  }

  static void sliceRequest(MemorySegment memory, long at, int slot, int generation, int limitUs) {
    memory.set(INT, at + SLICE_SLOT_AT, slot);
    memory.set(INT, at + SLICE_SLOT_AT + 4, generation);
    memory.set(INT, at + SLICE_SLOT_AT + 8, limitUs);
    memory.set(INT, at + SLICE_SLOT_AT + 12, 0);
  }

  /**
   * Reads what all records have. In shared memory the other process may change it later, so read it
   * once.
   */
  public static long head(MemorySegment memory, long at) {
    return memory.get(LONG, at);
  }

  /** The length in a {@link #head}, header included. */
  public static int lengthIn(long head) {
    return (int) head;
  }

  /** The type in a {@link #head}. */
  public static int typeIn(long head) {
    return (int) (head >>> Integer.SIZE) & 0xffff;
  }

  /** The kind in a {@link #head}. */
  public static byte kindIn(long head) {
    return (byte) (head >>> (KIND_AT * Byte.SIZE));
  }

  public static int slot(MemorySegment memory, long at) {
    return memory.get(INT, at + SLOT_AT);
  }

  public static int generation(MemorySegment memory, long at) {
    return memory.get(INT, at + GENERATION_AT);
  }

  public static int limitUs(MemorySegment memory, long at) {
    return memory.get(INT, at + LIMIT_AT);
  }

  public static int stream(MemorySegment memory, long at) {
    return memory.get(INT, at + STREAM_AT);
  }

  public static int offset(MemorySegment memory, long at) {
    return memory.get(INT, at + OFFSET_AT);
  }

  public static int total(MemorySegment memory, long at) {
    return memory.get(INT, at + TOTAL_AT);
  }

  public static byte whole(MemorySegment memory, long at) {
    return (byte) memory.get(INT, at + WHOLE_AT);
  }

  public static int sliceSlot(MemorySegment memory, long at) {
    return memory.get(INT, at + SLICE_SLOT_AT);
  }

  public static int sliceGeneration(MemorySegment memory, long at) {
    return memory.get(INT, at + SLICE_SLOT_AT + 4);
  }

  public static int sliceLimitUs(MemorySegment memory, long at) {
    return memory.get(INT, at + SLICE_SLOT_AT + 8);
  }
}
