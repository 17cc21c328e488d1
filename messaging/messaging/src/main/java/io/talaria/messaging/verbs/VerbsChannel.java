// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.ffi.Libc;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.transport.RingPair;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A queue pair, and what was sent and received on it. It is there from the handshake on, before its
 * {@link VerbsLink}. Both directions are one class, because they end together, by one state of the
 * queue pair.
 *
 * <pre>
 *   requests     completed        posted      + DEPTH
 *       ---------+----------------+-----------+--------
 *    done with   | at the device  |  free     |
 * </pre>
 *
 * <p>A small frame is copied into the slot of its request, behind its header, and its part of the
 * ring is free at once. A larger one is gathered: the device takes the header from the slot and the
 * records from the ring, whose part is free when the request is completed. A ring is freed in
 * order: what follows a gathered frame waits for it.
 *
 * <p>Several frames are posted by one call. The last of them is signalled if one is gathered, and
 * one request in {@link #SIGNAL_EVERY} in any case: its completion is that of all before it.
 */
final class VerbsChannel {
  /** Requests that may be at the device; a power of two. */
  static final int DEPTH = 64;

  /** Receive requests that this side keeps ready for the other one. */
  static final int PROMISED = VerbsLayout.WINDOW + VerbsLayout.WORDS;

  static final int PIECES = 2;
  static final int SLOT_BYTES = 2048;
  static final int SLOTS_BYTES = DEPTH * SLOT_BYTES;

  /** The maximum bytes of records that are copied next to their header. */
  private static final int MAX_BESIDE = SLOT_BYTES - VerbsLayout.HEADER_BYTES;

  private static final int SIGNAL_EVERY = 16;
  private static final int MASK = DEPTH - 1;
  private static final int NO_RING = -1;

  /** Of the words of {@link #owesWord}: half a window. */
  private static final int TELL_EVERY = VerbsLayout.WINDOW / 2;

  private final int serial;
  private final QueuePair queuePair;
  private final QueuePairAddress address;

  // Sending; only for the holder of the output, except what is volatile.
  private final MemoryRegion slots;
  private final MemorySegment slotMemory;
  private final ByteBuffer slotBytes;
  private final SendRequests requests;
  private final int inlineBytes;
  private final MemoryRegion[] rings;

  /** Requests that were written, and how many of them were given to the device. */
  private int written;

  private int posted;

  /** Those after the last signalled one. */
  private int unsignalled;

  /** Whether what was written and not posted must be signalled. */
  private boolean signal;

  /** Frames that were sent; the words are none. */
  private int frames;

  private int wordsWritten;

  /** The request after the last one of each ring that frees its part when it is completed. */
  private final int[] gathered = new int[RingPair.COUNT];

  /** For each request, the ring whose part it frees when it is completed, and up to where. */
  private final int[] ringOf = new int[DEPTH];

  private final long[] wordOf = new long[DEPTH];
  private final boolean[] isWord = new boolean[DEPTH];

  /** Requests that are done. Written by the holder of the send queue's completions. */
  private volatile int completed;

  private volatile int wordsDone;

  /** Requests of which the next to be completed frees a part of a ring. */
  private volatile int freeing;

  /** Nothing can be sent until a request is completed. */
  private volatile boolean starving;

  /** How many frames the other side has said to have received. Holder of the input. */
  private volatile int heard;

  /** What the other side was told last, and how many frames were received and given back. */
  private volatile int told;

  private volatile int returned;

  // Receiving; only for the holder of the input.
  private int received;
  private final int[] heldBuffers = new int[VerbsLayout.WINDOW];
  private final int[] heldBytes = new int[VerbsLayout.WINDOW];
  private int held;

  private volatile VerbsLink link;

  /** The queue pair is in error, and has given back all receive requests that it had taken. */
  private volatile boolean tookLast;

  /** Why nothing is sent and received any more, or null. */
  private volatile String ended;

  VerbsChannel(
      int serial,
      QueuePair queuePair,
      QueuePairAddress address,
      MemoryRegion slots,
      MemoryRegion[] rings,
      SendRequests requests) {
    this.serial = serial;
    this.queuePair = queuePair;
    this.address = address;
    this.slots = slots;
    this.rings = rings.clone();
    this.requests = requests;
    slotMemory = slots.memory();
    slotBytes = slotMemory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    inlineBytes = queuePair.inlineBytes();
  }

  int serial() {
    return serial;
  }

  int number() {
    return queuePair.number();
  }

  QueuePairAddress address() {
    return address;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  VerbsLink link() {
    return link;
  }

  String ended() {
    return ended;
  }

  /**
   * The memory for the rings of the link, from which the device gathers.
   *
   * @param capacity of each, at most that for which it was registered
   */
  MemorySegment[] rings(int[] capacity) {
    MemorySegment[] memory = new MemorySegment[RingPair.COUNT];
    for (int i = 0; i < RingPair.COUNT; i++) {
      memory[i] = rings[i].memory().asSlice(0, RingLayout.bytes(capacity[i]));
    }
    return memory;
  }

  // ---- sending

  /** Whether a frame may be sent now. */
  boolean hasRoom() {
    return ended == null && hasSlot() && frames - heard < VerbsLayout.WINDOW;
  }

  /** Whether requests are free, without those that are kept for words. */
  boolean hasSlot() {
    return written - completed < DEPTH - VerbsLayout.WORDS;
  }

  /** Whether a word may be sent now. */
  boolean hasWord() {
    return wordsWritten - wordsDone < VerbsLayout.WORDS && written - completed < DEPTH;
  }

  /** A completion is awaited before more can be sent, or not any more. */
  void starves(boolean now) {
    if (starving != now) {
      starving = now;
    }
  }

  /** The buffer for the next frame's header, which begins at {@link #slotAt}. */
  ByteBuffer slotBytes() {
    return slotBytes;
  }

  int slotAt() {
    return (written & MASK) * SLOT_BYTES;
  }

  /** Sends what was written at {@link #slotAt}; posted by {@link #post}. */
  void send(int bytes) {
    int slot = written & MASK;
    ringOf[slot] = NO_RING;
    begin(slot).local(slots, slotAt(), bytes);
    if (bytes <= inlineBytes) {
      requests.inline();
    }
    add(false);
  }

  /**
   * Sends the header at {@link #slotAt} and the records of a frame; posted by {@link #post}.
   *
   * @param word of the ring, up to which it is free after this frame
   * @return whether the records were copied and nothing before them is under way, so that the
   *     caller frees their part of the ring
   */
  boolean sendRun(int priority, MemorySegment ring, int start, int bytes, long word) {
    int slot = written & MASK;
    boolean copied = bytes <= MAX_BESIDE;
    int length = VerbsLayout.HEADER_BYTES + bytes;
    if (copied) {
      MemorySegment.copy(
          ring, start, slotMemory, (long) slotAt() + VerbsLayout.HEADER_BYTES, bytes);
      begin(slot).local(slots, slotAt(), length);
      if (length <= inlineBytes) {
        requests.inline();
      }
    } else {
      begin(slot)
          .local(slots, slotAt(), VerbsLayout.HEADER_BYTES)
          .local(rings[priority], start, bytes);
    }
    boolean free = copied && gathered[priority] - completed <= 0;
    ringOf[slot] = free ? NO_RING : priority;
    wordOf[slot] = word;
    add(false);
    if (!free) {
      gathered[priority] = written;
      freeing = written;
      signal = true;
    }
    return free;
  }

  /** Sends END; posted by {@link #post}. Its completion shows that all has arrived. */
  void sendLast(int bytes) {
    send(bytes);
    signal = true;
  }

  /** Whether the other side must be told what was received, by a word if no frame does. */
  boolean owesWord() {
    return returned - told >= TELL_EVERY;
  }

  /** Sends a word; posted by {@link #post}. */
  void sendWord() {
    int slot = written & MASK;
    ringOf[slot] = NO_RING;
    SendRequests ignored = begin(slot);
    isWord[slot] = true;
    wordsWritten++;
    signal = true;
    add(true);
  }

  private SendRequests begin(int slot) {
    int word = returned;
    told = word;
    isWord[slot] = false;
    return requests
        .sendImmediate(slot, word)
        .id(((long) serial << Integer.SIZE) | (written & 0xffff_ffffL));
  }

  private void add(boolean word) {
    if (!word) {
      frames++;
    }
    written++;
    unsignalled++;
    if (unsignalled == SIGNAL_EVERY) {
      signalLast();
    }
  }

  /** The request that was begun last is signalled. */
  private void signalLast() {
    SendRequests ignored = requests.signaled();
    unsignalled = 0;
    signal = false;
  }

  /** Gives the device what was written; an error number, or 0. */
  int post() {
    if (signal) {
      signalLast();
    }
    while (posted != written && ended == null) {
      int first = posted & MASK;
      int count = Math.min(written - posted, DEPTH - first);
      int status = queuePair.post(requests, first, count);
      if (status != 0) {
        return status;
      }
      posted += count;
    }
    return 0;
  }

  static String text(int status) {
    return "nothing can be sent: " + Libc.errorText(Math.abs(status));
  }

  /**
   * A request is completed, and so are all before it. Holder of the send queue's completions.
   *
   * @param request its number
   */
  void completed(int request) {
    VerbsLink on = link;
    int words = 0;
    int at = completed;
    for (; at - request <= 0; at++) {
      int slot = at & MASK;
      if (ringOf[slot] != NO_RING && on != null) {
        on.sent(ringOf[slot], wordOf[slot]);
      }
      words += isWord[slot] ? 1 : 0;
    }
    if (words != 0) {
      int before = wordsDone; // one thread at a time changes it
      wordsDone = before + words;
    }
    completed = at;
    starves(false);
    if (on != null) {
      on.roomMade();
    }
  }

  /** Whether this side waits for a completion: of what frees a part of a ring, or a request. */
  boolean awaitsCompletion() {
    return ended == null && (starving || freeing - completed > 0);
  }

  /** Whether all that was sent has arrived, or cannot any more. Holder of the output. */
  boolean isDrained() {
    return ended != null || posted == completed;
  }

  // ---- receiving; holder of the input

  /**
   * Takes the word of a message.
   *
   * @throws RingBrokenException if it is not possible
   */
  void word(int count, boolean alone) {
    int gained = count - heard;
    // What the other side has read was sent before, and this thread may see that late.
    if (gained < 0 || gained > VerbsLayout.WINDOW || (alone && gained < TELL_EVERY)) {
      throw new RingBrokenException(
          "it has received " + gained + " frames more, of " + VerbsLayout.WINDOW);
    }
    if (gained != 0) {
      heard = count;
      VerbsLink on = link;
      if (on != null) {
        on.roomMade();
      }
    }
  }

  /**
   * Takes a frame. False: its buffer is in use until there is a link, or until its records were
   * read; it is {@link #returned} then.
   *
   * @param memory of the buffer, if this thread reads the data ring; else null
   * @throws RingBrokenException if it is not sound, or more than may come
   */
  boolean frame(ByteBuffer from, int at, int bytes, int buffer, MemorySegment memory) {
    received++;
    if (received - told > VerbsLayout.WINDOW) {
      throw new RingBrokenException(
          received - told + " frames came, of " + VerbsLayout.WINDOW + " that may");
    }
    VerbsLink on = link;
    if (on == null) {
      heldBuffers[held] = buffer;
      heldBytes[held++] = bytes;
      return false;
    }
    return on.frame(from, at, bytes, buffer, memory);
  }

  /** The buffer of a frame is ready to receive again. */
  void returned() {
    int before = returned; // one thread at a time changes it
    returned = before + 1;
    VerbsLink on = link;
    if (on != null && owesWord()) {
      on.roomMade();
    }
  }

  /** The link begins; gives how many frames were held for it. */
  int begin(VerbsLink next) {
    link = next;
    int count = held;
    held = 0;
    return count;
  }

  /** How many frames are held. */
  int held() {
    return held;
  }

  int heldBuffer(int index) {
    return heldBuffers[index];
  }

  int heldBytes(int index) {
    return heldBytes[index];
  }

  // ---- the end

  /** Ends the channel. What has arrived is still delivered. */
  void end(String reason) {
    if (ended == null) {
      ended = reason;
      VerbsLink on = link;
      if (on != null) {
        on.cutOff(reason);
      }
    }
  }

  /** Ends the channel because the other side has violated the protocol. */
  void fail(String reason) {
    if (ended == null) {
      ended = reason;
      VerbsLink on = link;
      if (on != null) {
        on.fail(reason);
      }
    }
  }

  /**
   * Puts the queue pair in error, so that it gives back the receive requests that it has taken from
   * the shared queue. Holder of the output, for good.
   */
  void failQueuePair() {
    if (ended == null) {
      ended = "it is closed";
    }
    try {
      queuePair.fail();
    } catch (VerbsException e) {
      tookLast = true; // nothing will say so
    }
  }

  /** The device says that all receive requests are given back. */
  void tookLast() {
    tookLast = true;
  }

  /** Whether the device has said that all receive requests are given back. */
  boolean hasTakenLast() {
    return tookLast;
  }

  /** Closes the queue pair: after this, the device touches nothing of this channel. */
  void closeQueuePair() {
    if (ended == null) {
      ended = "it is closed";
    }
    queuePair.close();
  }

  /** Gives the registered memory back, once the queue pair is closed. */
  void closeMemory() {
    for (MemoryRegion each : rings) {
      each.closeIdle();
    }
    slots.closeIdle();
  }

  @Override
  public String toString() {
    return "queue pair "
        + number()
        + (ended == null ? "" : ", ended: " + ended)
        + ", "
        + (written - completed)
        + " at the device, "
        + (frames - heard)
        + " not received, "
        + (returned - told)
        + " untold, "
        + held
        + " held";
  }
}
