// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import io.talaria.messaging.ring.RingLayout;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Encodes and decodes what two nodes exchange before the first message, little-endian. A string is
 * a length of 2 bytes and UTF-8.
 *
 * <pre>
 *   frame    length 4 (of what follows) | kind 1 | body
 *   HELLO    magic 8 | version 2 | cluster 8 | from 2 | to 2 | incarnation 8 | heard 4 | transports 1 | offer | verbs | ucx
 *   WELCOME  incarnation 8 | number 4 | transport 1 | file 8 | offer | network | forms
 *   REJECT   code 1 | text
 *   READY    forms
 *   forms    count 2 | type 2, text each: the forms of those types whose fingerprints differ
 *   network  length 2 | what the ends of the chosen network transport must know of each other
 *   verbs, ucx   as network, of what the caller offers
 *   offer    pid 8 | max message 4 | data ring 4 | control ring 4 | types 2 | name, fingerprint 8 each
 * </pre>
 */
public final class HandshakeMessage {
  /** "TalNode", and 0. */
  public static final long MAGIC = 0x5461_6c4e_6f64_6500L;

  /** The version of everything that nodes exchange. */
  public static final int VERSION = 6;

  /** Kinds of frames. */
  public static final byte HELLO = 1;

  /** See {@link #HELLO}. */
  public static final byte WELCOME = 2;

  /** See {@link #HELLO}. */
  public static final byte REJECT = 3;

  /** See {@link #HELLO}. */
  public static final byte READY = 4;

  /** The largest frame, in bytes. */
  public static final int MAX_BYTES = 1 << 20;

  /** Codes of REJECT: the HELLO gives way to another connection or dial. */
  public static final byte REJECT_DUPLICATE = 1;

  /** See {@link #REJECT_DUPLICATE}: its id is in use. */
  public static final byte REJECT_ID = 2;

  /** See {@link #REJECT_DUPLICATE}: another cluster, version or node. */
  public static final byte REJECT_OTHER = 3;

  /** See {@link #REJECT_DUPLICATE}: there are too many connections, or it is closing. */
  public static final byte REJECT_FULL = 4;

  /** Bits of transports. */
  public static final int SHM = 1;

  /** See {@link #SHM}. */
  public static final int TCP = 2;

  /** See {@link #SHM}. */
  public static final int UCX = 4;

  /** See {@link #SHM}. */
  public static final int VERBS = 8;

  private static final int MAX_NETWORK_BYTES = 60_000;
  private static final int MAX_TYPES = 4096;
  private static final int MAX_NAME = 512;

  /** The longest text of a REJECT, in bytes; the rest is cut off. It may contain two paths. */
  private static final int MAX_TEXT = 2048;

  /**
   * The longest text of a form, in bytes; {@link #MAX_FORMS} bounds all together. Others are not
   * sent.
   */
  private static final int MAX_FORM = 4096;

  private static final int MAX_FORMS = 256 << 10;
  private static final int MIN_MAX_MESSAGE = 1;

  private HandshakeMessage() {}

  /** What a node supports: its process id, its limits in bytes, and its types. */
  public record Offer(
      long pid,
      int maxMessageBytes,
      int dataRingBytes,
      int controlRingBytes,
      List<String> names,
      List<Long> fingerprints) {
    /** Copies the lists. */
    public Offer {
      names = List.copyOf(names);
      fingerprints = List.copyOf(fingerprints);
    }

    int bytes() {
      int bytes = 22;
      for (String name : names) {
        bytes += 10 + name.getBytes(StandardCharsets.UTF_8).length;
      }
      return bytes;
    }

    void put(ByteBuffer to) {
      to.putLong(pid)
          .putInt(maxMessageBytes)
          .putInt(dataRingBytes)
          .putInt(controlRingBytes)
          .putShort((short) names.size());
      for (int i = 0; i < names.size(); i++) {
        putString(to, names.get(i));
        to.putLong(fingerprints.get(i));
      }
    }

    static Offer get(ByteBuffer from) throws ProtocolException {
      need(from, 22);
      long pid = from.getLong();
      int maxMessageBytes = from.getInt();
      int dataRingBytes = from.getInt();
      int controlRingBytes = from.getInt();
      int types = Short.toUnsignedInt(from.getShort());
      if (!RingLayout.allowed(dataRingBytes)
          || !RingLayout.allowed(controlRingBytes)
          || maxMessageBytes < MIN_MAX_MESSAGE) {
        throw new ProtocolException(
            "rings of "
                + dataRingBytes
                + " and "
                + controlRingBytes
                + " bytes, a largest message of "
                + maxMessageBytes);
      }
      if (types > MAX_TYPES) {
        throw new ProtocolException(types + " types");
      }
      List<String> names = new ArrayList<>();
      List<Long> fingerprints = new ArrayList<>();
      for (int i = 0; i < types; i++) {
        names.add(getString(from, MAX_NAME));
        need(from, Long.BYTES);
        fingerprints.add(from.getLong());
      }
      return new Offer(pid, maxMessageBytes, dataRingBytes, controlRingBytes, names, fingerprints);
    }
  }

  /**
   * The forms of types whose fingerprints differ.
   *
   * @param byType the sender's forms, by the indexes of their types in its offer
   */
  public record Forms(Map<Integer, String> byType) {
    /** No forms. */
    public static final Forms NONE = new Forms(Map.of());

    /**
     * Selects the forms to send, without those that exceed a limit.
     *
     * @param wanted the sender's forms, by the indexes of their types in its offer
     * @param beside the offer in the same frame, or null
     */
    public static Forms of(Map<Integer, String> wanted, Offer beside) {
      Map<Integer, String> told = new TreeMap<>();
      int most = beside == null ? MAX_FORMS : MAX_BYTES - MAX_NETWORK_BYTES - 64 - beside.bytes();
      int bytes = 0;
      for (Map.Entry<Integer, String> each : wanted.entrySet()) {
        int more = 4 + each.getValue().getBytes(StandardCharsets.UTF_8).length;
        if (more <= MAX_FORM && bytes + more <= Math.min(most, MAX_FORMS)) {
          told.put(each.getKey(), each.getValue());
          bytes += more;
        }
      }
      return new Forms(told);
    }

    private int bytes() {
      int bytes = 2;
      for (String each : byType.values()) {
        bytes += 4 + each.getBytes(StandardCharsets.UTF_8).length;
      }
      return bytes;
    }

    private void put(ByteBuffer to) {
      to.putShort((short) byType.size());
      byType.forEach(
          (type, form) -> {
            to.putShort(type.shortValue());
            putString(to, form);
          });
    }

    private static Forms get(ByteBuffer from) throws ProtocolException {
      need(from, Short.BYTES);
      int count = Short.toUnsignedInt(from.getShort());
      Map<Integer, String> byType = new TreeMap<>();
      for (int i = 0; i < count; i++) {
        need(from, Short.BYTES);
        int type = Short.toUnsignedInt(from.getShort());
        byType.put(type, getString(from, MAX_FORM));
      }
      return new Forms(byType);
    }
  }

  /** The first frame of the caller. */
  public record Hello(
      long cluster,
      int from,
      int to,
      long incarnation,
      int heard,
      int transports,
      Offer offer,
      ByteBuffer verbs,
      ByteBuffer ucx) {
    /** Encodes the frame. */
    public ByteBuffer frame() {
      ByteBuffer to = begin(HELLO, 39 + offer.bytes() + verbs.remaining() + ucx.remaining());
      to.putLong(MAGIC).putShort((short) VERSION).putLong(cluster);
      to.putShort((short) from).putShort((short) this.to);
      to.putLong(incarnation).putInt(heard).put((byte) transports);
      offer.put(to);
      putBytes(to, verbs);
      putBytes(to, ucx);
      return to.flip();
    }

    /**
     * Decodes a frame.
     *
     * @throws ProtocolException if it is not a HELLO, or has another version
     */
    public static Hello of(ByteBuffer body) throws ProtocolException {
      need(body, 35);
      if (body.getLong() != MAGIC) {
        throw new ProtocolException("no node of messaging, but something else");
      }
      int version = Short.toUnsignedInt(body.getShort());
      if (version != VERSION) {
        throw new ProtocolException("version " + version + " instead of " + VERSION);
      }
      long cluster = body.getLong();
      int from = Short.toUnsignedInt(body.getShort());
      int to = Short.toUnsignedInt(body.getShort());
      long incarnation = body.getLong();
      int heard = body.getInt();
      int transports = body.get();
      if (heard < 0 || from == 65_535) {
        throw new ProtocolException("node " + from + " has heard " + heard);
      }
      Offer offer = Offer.get(body);
      ByteBuffer verbs = getBytes(body);
      ByteBuffer ucx = getBytes(body);
      return new Hello(cluster, from, to, incarnation, heard, transports, offer, verbs, ucx);
    }
  }

  /** The response to a HELLO that accepts it. */
  public record Welcome(
      long incarnation,
      int number,
      int transport,
      long file,
      Offer offer,
      ByteBuffer network,
      Forms forms) {
    /** Encodes the frame. */
    public ByteBuffer frame() {
      ByteBuffer to = begin(WELCOME, 23 + offer.bytes() + network.remaining() + forms.bytes());
      to.putLong(incarnation).putInt(number).put((byte) transport).putLong(file);
      offer.put(to);
      putBytes(to, network);
      forms.put(to);
      return to.flip();
    }

    /**
     * Decodes a frame.
     *
     * @throws ProtocolException if it is not valid
     */
    public static Welcome of(ByteBuffer body) throws ProtocolException {
      need(body, 21);
      long incarnation = body.getLong();
      int number = body.getInt();
      int transport = body.get();
      long file = body.getLong();
      if (number <= 0) {
        throw new ProtocolException("connection number " + number);
      }
      return new Welcome(
          incarnation, number, transport, file, Offer.get(body), getBytes(body), Forms.get(body));
    }
  }

  /** Encodes the response to a HELLO that refuses it. */
  public static ByteBuffer reject(byte code, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(utf8.length, MAX_TEXT);
    ByteBuffer to = begin(REJECT, 3 + length);
    to.put(code).putShort((short) length).put(utf8, 0, length);
    return to.flip();
  }

  /** Decodes the text of a REJECT, which follows its code. */
  public static String rejectText(ByteBuffer body) throws ProtocolException {
    return getString(body, MAX_TEXT);
  }

  /** Encodes the last frame of the caller. */
  public static ByteBuffer ready(Forms forms) {
    ByteBuffer to = begin(READY, forms.bytes());
    forms.put(to);
    return to.flip();
  }

  /** Decodes the body of a READY. */
  public static Forms forms(ByteBuffer body) throws ProtocolException {
    return Forms.get(body);
  }

  private static ByteBuffer begin(byte kind, int bytes) {
    ByteBuffer to = ByteBuffer.allocate(5 + bytes).order(ByteOrder.LITTLE_ENDIAN);
    return to.putInt(1 + bytes).put(kind);
  }

  private static void putString(ByteBuffer to, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    to.putShort((short) utf8.length).put(utf8);
  }

  private static String getString(ByteBuffer from, int most) throws ProtocolException {
    need(from, 2);
    int length = Short.toUnsignedInt(from.getShort());
    if (length > most) {
      throw new ProtocolException("a string of " + length + " bytes");
    }
    need(from, length);
    byte[] utf8 = new byte[length];
    from.get(utf8);
    return new String(utf8, StandardCharsets.UTF_8);
  }

  private static void putBytes(ByteBuffer to, ByteBuffer bytes) {
    if (bytes.remaining() > MAX_NETWORK_BYTES) {
      throw new IllegalArgumentException(bytes.remaining() + " bytes about the network");
    }
    to.putShort((short) bytes.remaining()).put(bytes.duplicate());
  }

  private static ByteBuffer getBytes(ByteBuffer from) throws ProtocolException {
    need(from, Short.BYTES);
    int length = Short.toUnsignedInt(from.getShort());
    if (length > MAX_NETWORK_BYTES) {
      throw new ProtocolException(length + " bytes about the network");
    }
    need(from, length);
    byte[] bytes = new byte[length];
    from.get(bytes);
    return ByteBuffer.wrap(bytes);
  }

  private static void need(ByteBuffer from, int bytes) throws ProtocolException {
    if (from.remaining() < bytes) {
      throw new ProtocolException("a frame ends early");
    }
  }
}
