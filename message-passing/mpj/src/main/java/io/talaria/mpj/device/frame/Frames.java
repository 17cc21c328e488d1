// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.Device;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The layout of a frame, in native byte order. A frame begins at a multiple of 32 bytes.
 *
 * <pre>
 *  0        4     5     6      8        12    16             24    32
 *  | length | kind| type| flags| context| tag | message bytes| id  | payload ...
 * </pre>
 *
 * <p>The header of EAGER_SHORT ends with the tag; its payload begins there, and is the message.
 * With it two messages of a few bytes share a cache line of a ring, and one with UCX's own header
 * takes a single line. A transport sends it where it knows that the peer reads it.
 *
 * <p>{@code length} counts the whole frame before rounding; in a ring it is written last, and 0
 * means «not yet». What the other fields hold depends on the kind:
 *
 * <table>
 * <caption>Kinds</caption>
 * <tr><th>kind</th><th>context, tag</th><th>message bytes</th><th>id</th></tr>
 * <tr><td>EAGER</td><td>of the message</td><td>its length</td><td>-</td></tr>
 * <tr><td>EAGER_SYNC</td><td>of the message</td><td>its length</td><td>the sender's</td></tr>
 * <tr><td>RTS</td><td>of the message</td><td>its length</td><td>the sender's</td></tr>
 * <tr><td>MATCHED</td><td>-</td><td>-</td><td>the sender's</td></tr>
 * <tr><td>CTS</td><td>the receiver's id, 8 bytes</td><td>how much is wanted</td><td>the sender's</td></tr>
 * <tr><td>DATA</td><td>-</td><td>where the payload belongs</td><td>the receiver's</td></tr>
 * <tr><td>CANCEL</td><td>-</td><td>-</td><td>the sender's</td></tr>
 * <tr><td>CANCELLED</td><td>-</td><td>-</td><td>the sender's</td></tr>
 * <tr><td>CREDIT</td><td>-</td><td>credit given back since the start</td><td>-</td></tr>
 * <tr><td>SETUP</td><td>-</td><td>-</td><td>-</td></tr>
 * <tr><td>EAGER_SHORT</td><td>of the message</td><td>-</td><td>-</td></tr>
 * </table>
 *
 * <p>The payload of an RTS, if it has one, says where the data can be fetched: an address and a
 * key, 8 bytes each. Its receiver may fetch them and answer MATCHED, or ask for them by CTS.
 *
 * <p>CREDIT and SETUP are for transports without shared memory, which handle them themselves; what
 * a SETUP carries is the transport's.
 */
public final class Frames {
  /** Bytes before the payload. */
  public static final int HEADER = 32;

  /** What the length of a frame is rounded up to. */
  public static final int ALIGNMENT = 32;

  static final byte EAGER = 1;
  static final byte EAGER_SYNC = 2;
  static final byte RTS = 3;
  static final byte MATCHED = 4;
  static final byte CTS = 5;
  static final byte DATA = 6;
  static final byte CANCEL = 7;
  static final byte CANCELLED = 8;
  static final byte CREDIT = 9;
  static final byte SETUP = 10;
  static final byte EAGER_SHORT = 11;

  /** Bytes before the payload of an EAGER_SHORT. */
  static final int SHORT_HEADER = 16;

  /** One more than the highest context. */
  private static final int CONTEXTS = 2 * Device.BESIDE;

  /** Bytes of payload of an RTS that says where its data are exposed: address and key. */
  static final int EXPOSED = 16;

  /** Flag of DATA: the sender could not read its memory; nothing more comes. */
  static final short SENDER_FAILED = 1;

  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private Frames() {}

  /**
   * Bytes that a frame takes.
   *
   * @param payload bytes of payload
   */
  public static int room(int payload) {
    return (HEADER + payload + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Writes the header of an EAGER_SHORT, but for its length. */
  static void shortHeader(MemorySegment to, long at, int type, int context, int tag) {
    INT.set(to, at + 4, EAGER_SHORT | (type & 0xff) << 8);
    INT.set(to, at + 8, context);
    INT.set(to, at + 12, tag);
  }

  static void header(
      MemorySegment to,
      long at,
      byte kind,
      int type,
      short flags,
      int context,
      int tag,
      long messageBytes,
      long id) {
    INT.set(to, at + 4, (kind & 0xff) | (type & 0xff) << 8 | flags << 16);
    INT.set(to, at + 8, context);
    INT.set(to, at + 12, tag);
    LONG.set(to, at + 16, messageBytes);
    LONG.set(to, at + 24, id);
  }

  /**
   * The length field of a frame.
   *
   * @param from where it is
   * @param at its first byte
   */
  public static int length(MemorySegment from, long at) {
    return (int) INT.get(from, at);
  }

  /**
   * Kind, type and flags in one int, as {@link #kind}, {@link #type} and {@link #flags} read it.
   */
  static int word(MemorySegment from, long at) {
    return (int) INT.get(from, at + 4);
  }

  static int kind(int word) {
    return word & 0xff;
  }

  static int type(int word) {
    return word >> 8 & 0xff;
  }

  static int flags(int word) {
    return word >>> 16;
  }

  static int context(MemorySegment from, long at) {
    return (int) INT.get(from, at + 8);
  }

  static int tag(MemorySegment from, long at) {
    return (int) INT.get(from, at + 12);
  }

  /** The field that a CTS has in place of context and tag. */
  static long receiverId(MemorySegment from, long at) {
    return (long) LONG.get(from, at + 8);
  }

  static void receiverId(MemorySegment to, long at, long id) {
    LONG.set(to, at + 8, id);
  }

  /**
   * Sets the length field.
   *
   * @param to where the frame is
   * @param at its first byte
   * @param length bytes of header and payload
   */
  public static void length(MemorySegment to, long at, int length) {
    INT.set(to, at, length);
  }

  /**
   * Whether a frame is a CREDIT.
   *
   * @param from where it is
   * @param at its first byte
   */
  public static boolean isCredit(MemorySegment from, long at) {
    return kind(word(from, at)) == CREDIT;
  }

  /**
   * Writes the header of a CREDIT, but for its length.
   *
   * @param to where
   * @param at its first byte
   * @param total credit given back since the start
   */
  public static void credit(MemorySegment to, long at, long total) {
    header(to, at, CREDIT, 0, (short) 0, 0, 0, total, 0);
  }

  /**
   * Whether a frame is a SETUP.
   *
   * @param from where it is
   * @param at its first byte
   */
  public static boolean isSetup(MemorySegment from, long at) {
    return kind(word(from, at)) == SETUP;
  }

  /**
   * Writes the header of a SETUP, but for its length.
   *
   * @param to where
   * @param at its first byte
   */
  public static void setup(MemorySegment to, long at) {
    header(to, at, SETUP, 0, (short) 0, 0, 0, 0, 0);
  }

  /**
   * What is wrong with a message that should be one whole frame; null if nothing.
   *
   * @param from where it is
   * @param at its first byte
   * @param bytes that were received
   */
  public static String messageFault(MemorySegment from, long at, long bytes) {
    boolean whole = bytes >= SHORT_HEADER && length(from, at) == bytes;
    if (!whole || (bytes < HEADER && kind(word(from, at)) != EAGER_SHORT)) {
      return "a message of " + bytes + " bytes that is no frame";
    }
    return fault(from, at, (int) bytes);
  }

  /**
   * What is wrong with a frame by itself, whatever is under way; null if nothing. For transports
   * whose other end is not this program's memory.
   *
   * @param from where it is
   * @param at its first byte
   * @param length its length field, which is at least {@link #HEADER}, or the header of EAGER_SHORT
   */
  public static String fault(MemorySegment from, long at, int length) {
    int kind = kind(word(from, at));
    if (kind < EAGER || kind > EAGER_SHORT) {
      return "a frame of unknown kind " + kind;
    }
    if (kind <= RTS || kind == EAGER_SHORT) {
      int context = context(from, at);
      if (context < 0 || context >= CONTEXTS) {
        return "a frame of context " + context + "; there are 0 to " + (CONTEXTS - 1);
      }
    }
    return kind == EAGER_SHORT ? null : fault(from, at, kind, length - HEADER);
  }

  private static String fault(MemorySegment from, long at, int kind, int payload) {
    long bytes = messageBytes(from, at);
    if (kind <= RTS && (kind == RTS ? bytes < 0 : bytes != payload)) {
      return "a frame of " + payload + " bytes for a message of " + bytes;
    }
    boolean exposed = kind == RTS && payload == EXPOSED;
    if (payload != 0 && kind >= RTS && kind != DATA && kind != SETUP && !exposed) {
      return "a frame of kind " + kind + " with " + payload + " bytes of payload";
    }
    return bytes < 0 ? "a frame with " + bytes + " for a number of bytes" : null;
  }

  /**
   * The field of a CREDIT that counts.
   *
   * @param from where the frame is
   * @param at its first byte
   */
  public static long messageBytes(MemorySegment from, long at) {
    return (long) LONG.get(from, at + 16);
  }

  static void exposed(MemorySegment to, long at, long address, long key) {
    LONG.set(to, at + HEADER, address);
    LONG.set(to, at + HEADER + 8, key);
  }

  static long exposedAddress(MemorySegment from, long at) {
    return (long) LONG.get(from, at + HEADER);
  }

  static long exposedKey(MemorySegment from, long at) {
    return (long) LONG.get(from, at + HEADER + 8);
  }

  static long id(MemorySegment from, long at) {
    return (long) LONG.get(from, at + 24);
  }
}
