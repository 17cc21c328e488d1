// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.Received;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A UCX worker and the streams on it. A thread enters it before it uses it. Any thread may enter,
 * one at a time, and each thread that is inside makes UCX progress by {@link #turn}. No thread
 * stays inside for longer than copying takes.
 *
 * <p><b>Sleeping.</b> {@link #arm} has UCX signal the next event on {@link #descriptor}. The signal
 * stays there until a thread arms again, so a thread that arms tries until UCX agrees, or leaves it
 * to the {@link ProgressThread}, which then looks every millisecond.
 *
 * <p><b>Its end.</b> UCX numbers the endpoints between two workers with 16 bits, closed ones
 * counted, so an engine makes so many streams and is {@link #spent} then: further ones are made on
 * another. Once no more streams are made on it ({@link #retire}) and the last one is gone, the
 * progress thread closes it. A thread that comes late can still enter it then; there is nothing
 * inside.
 */
final class Engine {
  private static final int ARM_TRIES = 16;
  private static final int MAX_SLABS = 256;
  private static final int MAX_BUFFERS = 16;
  private static final int MAX_TURNS = 10_000;
  private static final int MAX_REFUSED = 256;

  private final UcxBinding binding;
  private final int maxStreams;
  private final BoundWorker worker;

  /** In the place of the worker's lock, once that is closed. */
  private final ReentrantLock remains = new ReentrantLock();

  /** Set by the thread that holds both locks, for good. */
  private boolean closed;

  private final ProgressThread progressThread;
  private final int descriptor;
  private final byte[] address;
  private final StreamTable streams = new StreamTable();

  /** Pipes that UCX has named, which it does not do again. */
  private final Object[] readable = new Object[BoundWorker.MAX_READY];

  private int readableCount;

  /** How many of them have had their turn. */
  private int readableTaken;

  private final Received chunk;
  private final ArrayDeque<Note> notes = new ArrayDeque<>();
  private final ArrayList<Note> notesUnderWay = new ArrayList<>();

  /** Notes that UCX delivers later, because of the peer's settings or its malice. */
  private final ArrayList<Note> notesComing = new ArrayList<>();

  private final ArrayList<UcxStream> sending = new ArrayList<>();
  private final List<Pipe> leaving = new ArrayList<>();
  private final List<UcxStream> expecting = new ArrayList<>();

  /** Of the flush at the end of the process; 0: none. */
  private long flush;

  private boolean flushing;

  /** How many streams were ever made on it. */
  private int streamsMade;

  /** Endpoints that UCX is not done with. */
  private int pipes;

  /** Workers to which UCX has refused an endpoint: their numbers may differ from ours now. */
  private final Set<ByteBuffer> refused = new HashSet<>();

  private boolean retired;

  /** Processes that may still use its address, because their sessions ended too early. */
  private final Set<Long> exposedTo = new HashSet<>();

  /**
   * Something may be here of which no event will tell: an endpoint has been opened since streams
   * were polled, and its peer has connected first; or to hand over what was here has failed.
   */
  private boolean unpolled;

  /** Memory was short for a limit that is to be granted. */
  private boolean grantsOwed;

  /** Any thread's. */
  private volatile boolean spent;

  /** How often the thread inside has entered. */
  private int depth;

  private StreamOwner[] toWake = new StreamOwner[8];
  private int wakeCount;
  private SendBuffer buffers;
  private int bufferCount;
  private Slab slabs;
  private int slabCount;

  /** The reader whose buffer what comes goes to. */
  private UcxStream directReader;

  private ByteBuffer directBuffer;
  private int directBytes;

  /** The last probe that has come: see {@link QueueCheck}. */
  private long probe;

  /** How much has come from this host, in pieces of any size. */
  private long arrivalsFromHost;

  // For the progress thread.
  private long turns;
  private long turnsSeen;
  private int awaiting;
  private final List<UcxReadySet> readySetsAsleep = new ArrayList<>();
  private boolean armed;
  private boolean watched;

  Engine(UcxBinding binding, ProgressThread progressThread) {
    this(binding, progressThread, Limits.MAX_STREAMS);
  }

  /**
   * @param maxStreams how many streams are made on it
   */
  Engine(UcxBinding binding, ProgressThread progressThread, int maxStreams) {
    this.binding = binding;
    this.progressThread = progressThread;
    this.maxStreams = maxStreams;
    worker = binding.openWorker();
    enter();
    try {
      chunk = worker.newReceived();
      descriptor = worker.eventDescriptor();
      address = UcxWorkerAddress.wrap(worker.address());
    } finally {
      exit();
    }
  }

  void enter() {
    if (!enterWorker()) {
      remains.lock();
    }
    depth++;
  }

  /** What a thread reads of {@link #closed} without a lock may be old; the worker knows. */
  private boolean enterWorker() {
    if (closed) {
      return false;
    }
    try {
      worker.enter();
      return true;
    } catch (IllegalStateException e) {
      if (!closed) {
        throw e;
      }
      return false;
    }
  }

  private boolean tryEnterWorker() {
    if (closed) {
      return false;
    }
    try {
      return worker.tryEnter();
    } catch (IllegalStateException e) {
      if (!closed) {
        throw e;
      }
      return false;
    }
  }

  private void leaveWorker() {
    if (closed) {
      remains.unlock();
    } else {
      worker.exit();
    }
  }

  /**
   * Wakes the threads that are to be woken, but not before they could enter: they would wait again.
   */
  void exit() {
    while (--depth == 0 && wakeCount > 0) {
      StreamOwner woken = toWake[--wakeCount];
      toWake[wakeCount] = null;
      boolean last = wakeCount == 0;
      leaveWorker();
      boolean done = false;
      try {
        woken.wake();
        done = true;
      } finally {
        if (!done && !last) { // this thread has taken it on to wake the others
          enter();
          exit();
        }
      }
      if (last) {
        return;
      }
      enter();
    }
    leaveWorker();
  }

  /** Wakes the threads that wait for a stream, soon: when the thread that is inside exits. */
  void wake(StreamOwner owner) {
    for (int i = 0; i < wakeCount; i++) {
      if (toWake[i] == owner) {
        return;
      }
    }
    if (wakeCount == toWake.length) {
      toWake = Arrays.copyOf(toWake, wakeCount * 2);
    }
    toWake[wakeCount++] = owner;
  }

  /**
   * Whether this thread is inside, for assertions.
   *
   * @throws IllegalStateException if not
   */
  boolean entered() {
    return closed ? remains.isHeldByCurrentThread() : worker.entered();
  }

  BoundWorker worker() {
    return worker;
  }

  /** Any thread. */
  int descriptor() {
    return descriptor;
  }

  /** Any thread. */
  byte[] address() {
    return address;
  }

  StreamTable streams() {
    return streams;
  }

  // ---- how many streams, and its end

  /** A stream is made on it. */
  void streamMade() {
    assert entered();
    if (++streamsMade >= maxStreams) {
      spent = true;
    }
  }

  /** Whether further streams are to be made on another engine. Any thread. */
  boolean spent() {
    return spent;
  }

  /** Has further streams be made on another engine. Any thread. */
  void spend() {
    spent = true;
  }

  /**
   * Has all its streams fail, because nothing comes to it any more; those that are not agreed yet
   * stay on TCP. The engine is not entered.
   *
   * @return how many have failed
   */
  int fail() {
    spend();
    List<UcxStream> all;
    enter();
    try {
      all = streams.all();
    } finally {
      exit();
    }
    int failed = 0;
    for (UcxStream stream : all) {
      if (stream.withdrawOrFail()) {
        failed++;
      }
    }
    return failed;
  }

  /**
   * Opens an endpoint for a stream.
   *
   * @throws BindingException if UCX refuses, or has refused another one to that worker
   */
  BoundEndpoint connect(byte[] there, Pipe pipe) {
    assert entered();
    if (closed || refused.size() >= MAX_REFUSED || refused.contains(ByteBuffer.wrap(there))) {
      throw new BindingException("one to this worker was refused before", null);
    }
    boolean made = false;
    try {
      BoundEndpoint endpoint = worker.connect(there, pipe);
      made = true;
      pipes++;
      unpolled = true;
      progressThread.hurry();
      return endpoint;
    } finally {
      if (!made) {
        refuse(there);
      }
    }
  }

  /** No endpoint is made to that worker any more: it might be paired with another's. */
  void refuse(byte[] there) {
    assert entered();
    refused.add(ByteBuffer.wrap(there));
    if (refused.size() >= MAX_REFUSED) {
      spent = true;
    }
  }

  /** UCX is done with an endpoint. */
  private void closed(Pipe pipe) {
    pipes--;
    pipe.closed();
  }

  /** No stream is made on it from now on; it closes when the last is gone. Any thread. */
  void retire() {
    enter();
    try {
      retired = true;
    } finally {
      exit();
    }
    progressThread.hurry();
  }

  /** A stream is gone, and leaves no endpoint that the progress thread looks after. */
  void streamGone() {
    if (retired) {
      progressThread.hurry();
    }
  }

  /**
   * A session has ended before the peer has said that it is done with a stream: it may still
   * connect to this worker, or map its memory, which must not be another's by then.
   */
  void exposedTo(long process) {
    assert entered();
    exposedTo.add(process);
  }

  /** Whether it is of no use to anybody any more, and may be closed. */
  boolean over() {
    assert entered();
    if (!retired
        || closed
        || pipes > 0
        || !streams.isEmpty()
        || !notesUnderWay.isEmpty()
        || !notesComing.isEmpty()) {
      return false;
    }
    exposedTo.removeIf(process -> ProcessHandle.of(process).isEmpty());
    return exposedTo.isEmpty();
  }

  /** Closes the worker, once it is {@link #over}. The progress thread, which has entered once. */
  void close() {
    assert entered() && depth == 1;
    watch(false);
    remains.lock();
    closed = true;
    try {
      worker.close();
    } finally {
      worker.exit();
    }
  }

  /** Whether it is closed; true for good. It is entered. */
  boolean closed() {
    assert entered();
    return closed;
  }

  // ---- progress

  /** Looks once, unless another thread is inside, which looks then. Any thread. */
  int lookIn() {
    if (!tryEnterWorker()) {
      return 0;
    }
    depth++;
    try {
      return turn();
    } finally {
      exit();
    }
  }

  /** Makes UCX progress, and hands over what has come. */
  int turn() {
    turns++;
    return turnUncounted();
  }

  private int turnUncounted() {
    if (closed) {
      return 0;
    }
    int events = worker.progress();
    if (events != 0 || unpolled) {
      unpolled = true; // and again, should memory be short: no event tells of what is left
      dispatch();
      unpolled = false;
    }
    return events;
  }

  /** Makes UCX progress until nothing more comes. */
  void turnUntilQuiet() {
    int quiet = 0;
    for (int i = 0; i < MAX_TURNS && quiet < 2; i++) {
      quiet = turnUncounted() == 0 ? quiet + 1 : 0;
    }
  }

  /** Makes UCX progress; what comes for a stream goes into a buffer as far as it has room. */
  int turnInto(UcxStream reader, ByteBuffer dst) {
    directReader = reader;
    directBuffer = dst;
    directBytes = 0;
    try {
      turn();
    } catch (InternalError e) {
      throw e; // perhaps of another stream's memory that is gone
    } catch (VirtualMachineError e) {
      if (directBytes == 0) {
        throw e;
      }
      progressThread.hurry(); // the reader gets its bytes, and what is left undone is done later
    } finally {
      directReader = null;
      directBuffer = null;
    }
    return directBytes;
  }

  int receiveDirectly(UcxStream stream, Received from, int offset, int length) {
    if (stream != directReader) {
      return 0;
    }
    int n = Math.min(length, directBuffer.remaining());
    if (n > 0) {
      from.copyTo(offset, directBuffer, n);
      directBytes += n;
    }
    return n;
  }

  private void dispatch() {
    do {
      if (readableTaken == readableCount) {
        readableCount = worker.pollStreams(readable);
        readableTaken = 0;
      }
      while (readableTaken < readableCount) {
        drain((Pipe) readable[readableTaken++]);
      }
    } while (readableCount == readable.length);
    takeNotes();
    if (!sending.isEmpty()) {
      pollSends();
    }
    if (!notesUnderWay.isEmpty()) {
      pollNotes();
    }
  }

  /** The last probe that has come. */
  long probe() {
    assert entered();
    return probe;
  }

  /** How much has come from this host; it only counts up. */
  long arrivalsFromHost() {
    assert entered();
    return arrivalsFromHost;
  }

  /** Something has come from this host. */
  void arrivedFromHost() {
    arrivalsFromHost++;
  }

  /** What a peer sends ends its own streams at worst, and so does a lack of memory for it. */
  private void drain(Pipe pipe) {
    try {
      pipe.drain(chunk);
    } catch (RuntimeException e) {
      pipe.breach(e);
    } catch (Error e) {
      pipe.lost(e);
    }
  }

  private void pollSends() {
    for (int i = sending.size() - 1; i >= 0; i--) {
      if (sending.get(i).pollSend()) {
        removeAt(sending, i);
      }
    }
  }

  private static <T> void removeAt(List<T> list, int index) {
    T moved = list.remove(list.size() - 1);
    if (index < list.size()) {
      list.set(index, moved);
    }
  }

  // ---- small messages

  void note(Pipe pipe, long token, int type, long value) {
    if (!pipe.endpoint().isOpen()) {
      return;
    }
    Note note = takeNote();
    note.set(type, value);
    notesUnderWay.ensureCapacity(notesUnderWay.size() + 1); // what UCX has must be in it
    long answer = pipe.endpoint().sendTag(note.block, UcxMessages.NOTE_BYTES, token);
    if (answer > 0) {
      note.request = answer;
      note.pipe = pipe;
      pipe.noteUnderWay();
      notesUnderWay.add(note);
      progressThread.hurry();
    } else {
      notes.push(note);
      if (answer < 0) {
        pipe.noteFailed();
      }
    }
  }

  private Note takeNote() {
    Note note = notes.poll();
    return note == null ? new Note(binding) : note;
  }

  private void takeNotes() {
    for (int i = notesComing.size() - 1; i >= 0; i--) {
      if (received(notesComing.get(i))) {
        removeAt(notesComing, i);
      }
    }
    while (worker.hasMessage()) {
      Note note = takeNote();
      notesComing.ensureCapacity(notesComing.size() + 1);
      // Longer messages are cut off, and forgotten: no peer can make us take memory for them.
      note.request = worker.receiveTag(note.block, UcxMessages.NOTE_BYTES);
      if (note.request <= 0) {
        notes.push(note);
      } else if (!received(note)) {
        notesComing.add(note);
      }
    }
  }

  /** Hands a note to its stream, once it is all there. */
  private boolean received(Note note) {
    int status = worker.status(note.request);
    if (status == BoundWorker.IN_PROGRESS) {
      return false;
    }
    long length = worker.receivedBytes(note.request);
    long tag = worker.receivedTag(note.request);
    UcxStream stream = streams.find(tag);
    worker.release(note.request);
    boolean whole = status == BoundWorker.OK && length == UcxMessages.NOTE_BYTES;
    if (whole && tag == QueueCheck.TAG) {
      probe = note.number();
    }
    if (stream != null) {
      if (whole) {
        stream.noted(note.type(), note.value());
      } else {
        stream.breach("a note of " + length + " bytes");
      }
    }
    notes.push(note);
    return true;
  }

  private void pollNotes() {
    for (int i = notesUnderWay.size() - 1; i >= 0; i--) {
      Note note = notesUnderWay.get(i);
      int status = worker.poll(note.request);
      if (status != BoundWorker.IN_PROGRESS) {
        removeAt(notesUnderWay, i);
        Pipe pipe = note.pipe;
        note.pipe = null;
        notes.push(note);
        pipe.noteDone();
        if (status < 0) {
          pipe.noteFailed();
        }
      }
    }
  }

  // ---- memory

  /**
   * Has a buffer ready, for {@link #takeBuffer}.
   *
   * @throws OutOfMemoryError if there is none
   */
  void reserveBuffer() {
    if (buffers == null) {
      giveBack(new SendBuffer(binding));
    }
  }

  SendBuffer takeBuffer() {
    SendBuffer buffer = buffers;
    if (buffer == null) {
      return new SendBuffer(binding);
    }
    buffers = buffer.next;
    bufferCount--;
    buffer.next = null;
    return buffer;
  }

  void giveBack(SendBuffer buffer) {
    buffer.length = 0;
    if (bufferCount < MAX_BUFFERS) {
      buffer.next = buffers;
      buffers = buffer;
      bufferCount++;
    }
  }

  /**
   * Has so many slabs ready, for {@link #takeSlab}.
   *
   * @throws OutOfMemoryError if there are not so many
   */
  void reserveSlabs(int count) {
    while (slabCount < count) {
      Slab slab = new Slab();
      slab.next = slabs;
      slabs = slab;
      slabCount++;
    }
  }

  Slab takeSlab() {
    Slab slab = slabs;
    if (slab == null) {
      return new Slab();
    }
    slabs = slab.next;
    slabCount--;
    slab.next = null;
    return slab;
  }

  void giveBack(Slab slab) {
    slab.from = 0;
    slab.to = 0;
    slab.next = null;
    if (slabCount < MAX_SLABS) {
      slab.next = slabs;
      slabs = slab;
      slabCount++;
    }
  }

  // ---- what needs the progress thread

  /** Lets {@link #sending} need no memory. */
  void reserveSending() {
    sending.ensureCapacity(sending.size() + 1);
  }

  /** A stream has a send under way. */
  void sending(UcxStream stream) {
    sending.add(stream);
    progressThread.hurry();
  }

  /** Memory was short for a limit that is to be granted: the progress thread tries again. */
  void owesGrants() {
    grantsOwed = true;
    progressThread.hurry();
  }

  /** A pipe is to be closed. */
  void leaving(Pipe pipe) {
    leaving.add(pipe);
    progressThread.hurry();
  }

  /** A stream waits for what its peer has sent last, or for word of a peer it cannot reach. */
  void expecting(UcxStream stream) {
    expecting.add(stream);
    progressThread.hurry();
  }

  private void pollExpecting() {
    for (int i = expecting.size() - 1; i >= 0; i--) {
      if (expecting.get(i).pollLastWords()) {
        removeAt(expecting, i);
      }
    }
  }

  /** A thread begins or ends to wait. */
  void awaiting(int change) {
    awaiting += change;
  }

  /** A thread is about to sleep until the progress thread, or any other thread, wakes it. */
  void fallAsleep() {
    if (closed) {
      return;
    }
    if (!watched || !armed) {
      arm();
      watch(armed);
    }
    if (!armed) {
      progressThread.hurry();
    }
  }

  /** A ready set that looks at it is about to sleep on the descriptor. */
  void readySetFallsAsleep(UcxReadySet readySet) {
    if (closed) {
      return;
    }
    readySetsAsleep.add(readySet);
    arm();
    if (awaiting == 0) {
      watch(false);
    }
    if (!armed) {
      progressThread.hurry();
    }
  }

  /** A ready set has woken up, or no longer looks at it. */
  void readySetIsAwake(UcxReadySet readySet) {
    if (readySetsAsleep.remove(readySet)) {
      progressThread.stir(); // this sleep has kept it from looking
    }
  }

  private void arm() {
    armed = false;
    for (int i = 0; i < ARM_TRIES && !armed; i++) {
      armed = worker.arm();
      if (!armed) {
        turnUncounted();
      }
    }
  }

  private void watch(boolean on) {
    if (on == watched || closed) {
      return;
    }
    if (!on) {
      watched = false;
      progressThread.events().remove(this);
    } else if (progressThread.events().add(this)) {
      watched = true;
    } else {
      progressThread.hurry(); // it looks at intervals, then
    }
  }

  /**
   * Whether all that was to be sent has left, at the end of the process. Makes UCX progress.
   *
   * @param arrives whether it must have arrived, too
   */
  boolean drained(boolean arrives) {
    if (closed) {
      return true;
    }
    turnUntilQuiet();
    pollSends();
    pollNotes();
    if (!sending.isEmpty() || !notesUnderWay.isEmpty()) {
      return false;
    }
    if (arrives && !flushing) {
      flushing = true;
      flush = worker.flush();
    }
    if (flush > 0 && worker.poll(flush) != BoundWorker.IN_PROGRESS) {
      flush = 0;
    }
    return flush <= 0;
  }

  /**
   * When the progress thread is needed again: not at all, at its usual interval, or each
   * millisecond.
   */
  enum Need {
    NOTHING,
    LATER,
    SOON
  }

  /** Looks after it. The progress thread. */
  Need service() {
    boolean active = turns != turnsSeen;
    turnsSeen = turns;
    boolean work =
        unpolled
            || grantsOwed
            || !sending.isEmpty()
            || !notesUnderWay.isEmpty()
            || !leaving.isEmpty()
            || !expecting.isEmpty();
    boolean slept = !readySetsAsleep.isEmpty() && armed && awaiting == 0;
    if (slept && !work) {
      return active ? Need.LATER : Need.NOTHING;
    }
    turnUntilQuiet();
    pollSends();
    pollNotes();
    if (grantsOwed) {
      grantsOwed = false;
      streams.grant();
    }
    if (closeLeaving()) {
      turnUntilQuiet(); // UCX gives an endpoint's memory back in its next turn
    }
    pollExpecting();
    if (active && awaiting == 0 && readySetsAsleep.isEmpty()) {
      watch(false);
      return sending.isEmpty() && expecting.isEmpty() ? Need.LATER : Need.SOON;
    }
    arm();
    boolean needsWatch = readySetsAsleep.isEmpty() || awaiting > 0;
    if (needsWatch) {
      watch(armed);
    }
    if (!armed
        || grantsOwed
        || (needsWatch && !watched)
        || !sending.isEmpty()
        || !notesUnderWay.isEmpty()
        || !expecting.isEmpty()) {
      return Need.SOON;
    }
    return active || !leaving.isEmpty() ? Need.LATER : Need.NOTHING;
  }

  private boolean closeLeaving() {
    if (flush > 0) {
      return false; // all endpoints take part in that, and the process ends
    }
    boolean any = false;
    for (int i = leaving.size() - 1; i >= 0; i--) {
      Pipe pipe = leaving.get(i);
      if (pipe.close()) {
        removeAt(leaving, i);
        closed(pipe);
        any = true;
      }
    }
    return any;
  }
}
