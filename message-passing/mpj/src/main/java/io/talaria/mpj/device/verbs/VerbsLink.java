// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import io.talaria.ffi.Libc;
import io.talaria.mpj.device.frame.Exposure;
import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import io.talaria.mpj.device.transport.EndedLinks;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A queue pair to one other rank, and the memory of its frames. Guarded by the engine's lock.
 *
 * <pre>
 *  registered   | frames to send: window places | receives that stand ready: window + SPARE places |
 * </pre>
 *
 * <p>A frame takes one place at the sender until the device is done with it, and one at the
 * receiver until it was read. The receiver has a receive ready for each frame that may come: a
 * sender has at most {@code window} frames under way that the receiver has not read. How many were
 * read is the immediate word of each message; where no frame goes that way, a message without bytes
 * brings the word, at latest when half of the window was read. At most {@link #SPARE} of these come
 * between two looks of the receiver, and each has a receive ready as well.
 *
 * <p>Large messages between registered memory are read from the sender, in pieces, one message
 * after the other.
 */
final class VerbsLink implements EndedLinks.Ended {
  /** Kinds of requests, in their identifiers. */
  static final int RECEIVE = 0;

  static final int FRAME = 1;
  static final int CREDIT = 2;
  static final int READ = 3;

  private static final int KIND_SHIFT = 28;
  private static final int INDEX_MASK = (1 << KIND_SHIFT) - 1;

  /** Messages without bytes that may be under way. */
  private static final int SPARE = 3;

  /** Reads that may be under way: while one runs, the next waits at the device. */
  private static final int READS = 2;

  private static final int INLINE_BYTES = 128;

  /** Places do not begin at the same place modulo a power of two, where caches would collide. */
  private static final int STAGGER = 192;

  /** What the setup has come to. */
  private enum Stage {
    NEW,
    INTRODUCED,
    CONNECTED,
    READY
  }

  private final int peer;
  private final VerbsFrameTransport transport;
  private final int window;
  private final int longestFrame;
  private final int stride;
  private final long creditStep;
  private final Output output;
  private final Input input;
  private Stage stage = Stage.NEW;
  private QueuePair queuePair;
  private QueuePairAddress own;
  private MemoryRegion region;
  private MemorySegment memory;
  private SendRequests sends;
  private ReceiveRequests receives;
  private int inlineBytes;

  /** The connection by which the queue pair is set up; null before it is there. */
  private FrameInput setup;

  /** Whether the peer has said by it that its queue pair receives. */
  private boolean heard;

  private String ended;

  /** Whether both devices can let this rank read the peer's memory. */
  private boolean mayRead;

  /** What is being read and what waits for that, in order. */
  private final ArrayDeque<Fetch> fetches = new ArrayDeque<>();

  /** What each read under way is of. */
  private final Fetch[] reading = new Fetch[READS];

  private int readsUnderWay;
  private int nextRead;

  /** Whether credit or the word of what was read is to be sent that found no room. */
  boolean owes;

  VerbsLink(int peer, VerbsFrameTransport transport, int window, int longestFrame, long credit) {
    this.peer = peer;
    this.transport = transport;
    this.window = window;
    this.longestFrame = longestFrame;
    stride = longestFrame + STAGGER;
    creditStep = Math.max(1, credit / 4);
    output = new Output();
    input = new Input();
  }

  static long id(int peer, int kind, int index) {
    return (long) peer << 32 | kind << KIND_SHIFT | index;
  }

  static int peerOf(long id) {
    return (int) (id >>> 32);
  }

  static int kindOf(long id) {
    return (int) id >>> KIND_SHIFT;
  }

  static int indexOf(long id) {
    return (int) id & INDEX_MASK;
  }

  /** Requests that a link may have in a completion queue at once. */
  static int completions(int window) {
    return 2 * (window + SPARE) + READS;
  }

  @Override
  public int peer() {
    return peer;
  }

  FrameOutput output() {
    return output;
  }

  FrameInput input() {
    return input;
  }

  @Override
  public String ended() {
    return ended;
  }

  void end(String why) {
    if (ended == null) {
      ended = why;
      transport.ended(this, why);
    }
  }

  // Setting up.

  /** Opens the queue pair, and tells the peer of it. */
  void open(FrameOutput by) {
    if (stage != Stage.NEW || ended != null) {
      return;
    }
    try {
      region = transport.allocate((2L * window + SPARE) * stride);
      memory = region.memory();
      queuePair = transport.queuePair(window + SPARE + READS, window + SPARE, INLINE_BYTES);
      inlineBytes = queuePair.inlineBytes();
      prepare();
      own = transport.initialize(queuePair, ThreadLocalRandom.current().nextInt(1 << 24));
      for (int i = 0; i < window + SPARE; i++) {
        postReceive(i);
      }
    } catch (VerbsException | IllegalStateException e) {
      end("there is no queue pair to it: " + e.getMessage());
      return;
    }
    stage = Stage.INTRODUCED;
    long at = by.claim(Frames.room(Introduction.BYTES));
    Frames.setup(by.segment(), at);
    transport.introduction(own, window, longestFrame).write(by.segment(), at + Frames.HEADER);
    by.publish(at, Frames.HEADER + Introduction.BYTES);
  }

  private void prepare() {
    sends = transport.sendRequests(window + SPARE + READS);
    receives = transport.receiveRequests(window + SPARE);
    for (int i = 0; i < window + SPARE; i++) {
      receives
          .request(i)
          .id(id(peer, RECEIVE, i))
          .local(region, (long) (window + i) * stride, longestFrame);
    }
  }

  /** The connection for the setup is there. */
  void setup(FrameInput from) {
    setup = from;
  }

  /** Reads what the peer has sent by that connection; whether there was something. */
  boolean readSetup(FrameOutput by) {
    boolean read = false;
    while (setup != null && ended == null) {
      long at = setup.poll();
      if (at < 0) {
        break;
      }
      MemorySegment from = setup.segment();
      int length = Frames.length(from, at);
      if (!Frames.isSetup(from, at)) {
        end("it sent a frame by the connection for the setup");
      } else if (stage == Stage.INTRODUCED && length == Frames.HEADER + Introduction.BYTES) {
        connect(from, at + Frames.HEADER, by);
      } else if (!heard && stage.compareTo(Stage.CONNECTED) >= 0 && length == Frames.HEADER) {
        heard = true;
        ready();
      } else {
        end("it sent a setup of " + length + " bytes that does not belong there");
      }
      setup.consume(length);
      read = true;
    }
    return read;
  }

  private void connect(MemorySegment from, long at, FrameOutput by) {
    try {
      Introduction theirs = Introduction.read(from, at);
      if (theirs.window() != window || theirs.frameBytes() != longestFrame) {
        end(
            "its frames are of "
                + theirs.frameBytes()
                + " bytes, "
                + theirs.window()
                + " at a time, here of "
                + longestFrame
                + ", "
                + window
                + " at a time: talaria.mpj.buffer must be the same for all ranks");
        return;
      }
      mayRead = transport.connect(queuePair, own, theirs) > 0;
    } catch (VerbsException | IllegalArgumentException e) {
      end("its queue pair cannot be reached: " + e.getMessage());
      return;
    }
    stage = Stage.CONNECTED;
    long place = by.claim(Frames.HEADER);
    Frames.setup(by.segment(), place);
    by.publish(place, Frames.HEADER);
  }

  /** The peer's queue pair receives: it says so, or it sends. */
  private void ready() {
    if (stage == Stage.CONNECTED) {
      stage = Stage.READY;
      transport.connected();
      pay(); // Its frames may have come before.
    }
  }

  boolean isReady() {
    return stage == Stage.READY;
  }

  // What the device has done.

  /** A frame or a word of credit was received. */
  void received(int place, long bytes, int read) {
    if (ended != null) {
      return;
    }
    ready();
    output.read(read);
    if (bytes == 0) {
      postReceive(place); // No frame: it does not count.
    } else {
      input.add(place, bytes);
    }
  }

  /** A send or read is over. */
  void sent(int kind, int index) {
    if (ended != null) {
      return;
    }
    if (kind == FRAME) {
      output.completed++;
    } else if (kind == CREDIT) {
      input.wordsUnderWay--;
    } else {
      read(index);
    }
  }

  // Reading.

  /** A message that is read from the peer's memory. */
  private static final class Fetch {
    private final RegistrationCache.Entry<MemoryRegion> to;
    private final long offset;
    private final long bytes;
    private final long address;
    private final int key;
    private final long id;
    private long asked;
    private int pieces;

    private Fetch(
        RegistrationCache.Entry<MemoryRegion> to,
        MemorySegment into,
        long address,
        int key,
        long id) {
      this.to = to;
      offset = to.offsetOf(into);
      bytes = into.byteSize();
      this.address = address;
      this.key = key;
      this.id = id;
    }
  }

  /** Asks for the next pieces, as far as reads may be under way. */
  private void ask() {
    for (Fetch each : fetches) {
      while (each.asked < each.bytes) {
        if (readsUnderWay == READS || ended != null) {
          return;
        }
        int length = (int) Math.min(transport.longestRead(), each.bytes - each.asked);
        int index = nextRead;
        sends
            .read(window + SPARE + index)
            .id(id(peer, READ, index))
            .local(each.to.registration(), each.offset + each.asked, length)
            .remote(each.address + each.asked, each.key)
            .signaled();
        reading[index] = each;
        nextRead = index + 1 == READS ? 0 : index + 1;
        readsUnderWay++;
        each.asked += length;
        each.pieces++;
        post(window + SPARE + index);
      }
    }
  }

  /** A piece is here. */
  private void read(int index) {
    Fetch fetch = reading[index];
    reading[index] = null;
    readsUnderWay--;
    fetch.pieces--;
    boolean whole = fetch.pieces == 0 && fetch.asked == fetch.bytes;
    if (whole) {
      fetches.removeFirst(); // Reads of a queue pair are over in order.
      transport.registrations().release(fetch.to);
    }
    ask();
    if (whole) {
      transport.fetched(fetch.id);
    }
  }

  private void postReceive(int place) {
    int status = queuePair.post(receives, place, 1);
    if (status != 0 && ended == null) {
      end("no receive could be posted: " + Libc.errorText(Math.abs(status)));
    }
  }

  private void post(int request) {
    int status = queuePair.post(sends, request, 1);
    if (status != 0) {
      end("nothing can be sent to it: " + Libc.errorText(Math.abs(status)));
    }
  }

  /** Pays what {@link #owes} says. */
  void pay() {
    if (ended == null) {
      input.payCredit();
      input.tellWhatWasRead();
    }
  }

  /** Gives up the queue pair: from now on the device touches no memory for the peer. */
  void abandon() {
    if (queuePair != null) {
      queuePair.close();
    }
    if (region != null) {
      region.close();
    }
    while (!fetches.isEmpty()) {
      transport.registrations().release(fetches.removeFirst().to);
    }
  }

  /** Memory that the peer may read. */
  private final class Exposed implements Exposure {
    private final RegistrationCache.Entry<MemoryRegion> entry;
    private final long address;

    private Exposed(RegistrationCache.Entry<MemoryRegion> entry, long address) {
      this.entry = entry;
      this.address = address;
    }

    @Override
    public long address() {
      return address;
    }

    @Override
    public long key() {
      return entry.registration().remoteKey() & 0xffffffffL;
    }

    @Override
    public void release() {
      transport.registrations().release(entry);
    }
  }

  @Override
  public String toString() {
    return "rank " + peer + " (" + stage + (ended == null ? ")" : ", ended: " + ended + ")");
  }

  /** The frames that go to the peer. */
  final class Output extends FrameOutput {
    /** Frames since the start, and how many of them are done with here and read there. */
    private int posted;

    private int completed;
    private int read;

    /** Where the next frame goes: a place. */
    private int next;

    private long creditReturned;

    private Output() {}

    /** The peer says how many frames it has read. */
    private void read(int count) {
      int gained = count - read;
      if (gained < 0 || gained > posted - read) {
        end("it has read " + gained + " frames more, of " + (posted - read));
        return;
      }
      read = count;
    }

    private boolean mayPost() {
      return stage == Stage.READY
          && ended == null
          && posted - completed < window
          && posted - read < window;
    }

    @Override
    public long claim(int room) {
      return mayPost() ? (long) next * stride : -1;
    }

    @Override
    public MemorySegment segment() {
      return memory;
    }

    @Override
    public void publish(long at, int length) {
      Frames.length(memory, at, length);
      sends
          .sendImmediate(next, input.told())
          .id(id(peer, FRAME, next))
          .local(region, at, length)
          .signaled();
      if (length <= inlineBytes) {
        sends.inline();
      }
      int request = next;
      next = next + 1 == window ? 0 : next + 1;
      posted++;
      post(request);
    }

    @Override
    public long fetchFrom() {
      return mayRead ? longestPayload() + 1L : Long.MAX_VALUE;
    }

    @Override
    public Exposure expose(MemorySegment shared) {
      RegistrationCache.Entry<MemoryRegion> entry = hold(shared);
      return entry == null ? null : new Exposed(entry, shared.address());
    }

    /** Null if the memory cannot be registered: it will be copied. */
    private RegistrationCache.Entry<MemoryRegion> hold(MemorySegment wanted) {
      try {
        return transport.registrations().hold(wanted);
      } catch (VerbsException | IllegalArgumentException | IllegalStateException e) {
        return null;
      }
    }

    @Override
    public boolean fetch(MemorySegment into, long address, long key, long id) {
      RegistrationCache.Entry<MemoryRegion> entry = ended == null ? hold(into) : null;
      if (entry == null) {
        return false;
      }
      fetches.add(new Fetch(entry, into, address, (int) key, id));
      ask();
      return true;
    }

    @Override
    public long creditReturned() {
      return creditReturned;
    }

    @Override
    public boolean hasRoom() {
      return mayPost();
    }

    @Override
    public int longestPayload() {
      return longestFrame - Frames.HEADER;
    }

    @Override
    public boolean flushed() {
      return posted == completed || ended != null;
    }

    @Override
    public void close() {}
  }

  /** The frames that come from the peer, in the order of sending, where the device has put them. */
  final class Input extends FrameInput {
    /** The places of frames that were not read yet, cyclically. */
    private final int[] places = new int[window + SPARE];

    private int first;
    private int count;

    /** Frames read since the start, and what of that the peer was told. */
    private int consumed;

    private int toldConsumed;

    /** Messages without bytes that the device is not done with. */
    private int wordsUnderWay;

    private int nextWord;
    private long creditGiven;
    private long creditSent;

    private Input() {}

    /** What was read, as a message tells it. */
    private int told() {
      toldConsumed = consumed;
      return consumed;
    }

    /** Takes a frame that has arrived; an invalid one ends the link. */
    private void add(int place, long received) {
      long at = at(place);
      String fault = Frames.messageFault(memory, at, received);
      if (fault != null) {
        end("it sent " + fault);
      } else if (Frames.isCredit(memory, at)) {
        output.creditReturned = Frames.messageBytes(memory, at);
        giveBack(place);
      } else {
        int last = first + count++;
        places[last < places.length ? last : last - places.length] = place;
      }
    }

    private long at(int place) {
      return (long) (window + place) * stride;
    }

    @Override
    public long poll() {
      return count == 0 ? -1 : at(places[first]);
    }

    @Override
    public MemorySegment segment() {
      return memory;
    }

    @Override
    public void consume(int length) {
      int place = places[first];
      first = first + 1 == places.length ? 0 : first + 1;
      count--;
      giveBack(place);
    }

    private void giveBack(int place) {
      if (ended != null) {
        return;
      }
      postReceive(place);
      consumed++;
      if (consumed - toldConsumed >= (window + 1) / 2) {
        tellWhatWasRead();
      }
    }

    private void tellWhatWasRead() {
      if (stage == Stage.READY && consumed - toldConsumed >= (window + 1) / 2) {
        if (wordsUnderWay == SPARE) {
          owe();
          return;
        }
        wordsUnderWay++;
        int request = window + nextWord;
        nextWord = nextWord + 1 == SPARE ? 0 : nextWord + 1;
        sends.sendImmediate(request, told()).id(id(peer, CREDIT, 0)).signaled();
        post(request);
      }
    }

    @Override
    public void returnCredit(long total) {
      creditGiven = total;
      payCredit();
    }

    private void payCredit() {
      if (creditGiven - creditSent < creditStep) {
        return;
      }
      long at = output.claim(Frames.HEADER);
      if (at >= 0) {
        Frames.credit(memory, at, creditGiven);
        creditSent = creditGiven;
        output.publish(at, Frames.HEADER);
      } else if (ended == null) {
        owe();
      }
    }

    private void owe() {
      if (!owes) {
        owes = true;
        transport.owing(VerbsLink.this);
      }
    }

    @Override
    public void close() {}
  }
}
