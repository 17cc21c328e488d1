// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Matched;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.Payload;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.nio.jit.NotInlined;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A device that moves frames: matching, the eager and the rendezvous protocol, credits and
 * cancelling are here, and how a frame gets to a peer is in {@link FrameOutput} and {@link
 * FrameInput}.
 *
 * <p>A message up to the eager limit goes in one EAGER frame as long as its sender has credit at
 * the receiver; credit comes back when a message is matched, so the memory for unmatched messages
 * is bounded. Any other message is announced by RTS, in the same order; its receiver answers CTS
 * when it has matched it, and gets DATA frames. Where both sides' data are in memory that the
 * output can move by itself, the RTS says where, and the receiver fetches them and answers MATCHED.
 * RTS are not limited: a receive for a late one must find it.
 */
public abstract class FrameDevice extends Device implements Peers {
  /** What one early message costs of the credit beside its bytes. */
  private static final int CREDIT_PER_MESSAGE = 64;

  private static final int QUEUED = 2;
  private static final int ANNOUNCED = 3;
  private static final int STREAMING = 4;
  private static final int CANCELLING = 5;

  /** Of a receive: its data are being fetched. */
  private static final int FETCHING = 6;

  private final int rank;
  private final int size;
  private final int eagerBytes;
  private final int chunkBytes;
  private final long creditBytes;
  private final Matcher matcher;
  private final OperationTable table = new OperationTable();
  private final Peer[] peers;
  private final long[] creditGiven;
  private final FrameInput[] inputOf;
  private FrameInput[] inputs = new FrameInput[4];
  private int[] inputRank = new int[4];
  private int inputCount;
  private Peer[] waiting = new Peer[4];
  private int waitingCount;
  private MemorySegment loopback;
  private Runnable onArrival = () -> {};
  private volatile Runnable onNews = () -> {};

  /** Why a rank is gone, by rank; null as long as all are there and no context is revoked. */
  private RankGoneException[] gone;

  /** Why contexts are revoked. */
  private final Map<Integer, CommunicationException> revoked = new HashMap<>();

  /**
   * For subclasses.
   *
   * @param rank of this process
   * @param size ranks of the job
   * @param eagerBytes longest message sent without being asked for
   * @param chunkBytes longest payload of a frame; a multiple of 8, at least eagerBytes
   * @param creditBytes early messages that a peer may have here
   */
  protected FrameDevice(int rank, int size, int eagerBytes, int chunkBytes, long creditBytes) {
    this.rank = rank;
    this.size = size;
    this.eagerBytes = eagerBytes;
    this.chunkBytes = chunkBytes;
    this.creditBytes = creditBytes;
    matcher = new Matcher(size);
    peers = new Peer[size];
    creditGiven = new long[size];
    inputOf = new FrameInput[size];
  }

  /**
   * Makes the output to a peer, when it is first needed.
   *
   * @param peer its rank
   * @return an output, at once
   */
  protected abstract FrameOutput connect(int peer);

  /**
   * Looks for peers that have made an output to this rank, and calls {@link #arrived} for each.
   *
   * @return how much happened beside that for which somebody may wait: frames have left
   */
  protected abstract int discover();

  @Override
  public final void arrived(int peer, FrameInput input) {
    if (inputCount == inputs.length) {
      inputs = Arrays.copyOf(inputs, inputCount * 2);
      inputRank = Arrays.copyOf(inputRank, inputCount * 2);
    }
    inputs[inputCount] = input;
    inputRank[inputCount++] = peer;
    inputOf[peer] = input;
  }

  @Override
  public final int rank() {
    return rank;
  }

  @Override
  public final int size() {
    return size;
  }

  @Override
  public final void onArrival(Runnable action) {
    onArrival = action;
  }

  @Override
  public final void onNews(Runnable action) {
    onNews = action;
  }

  /** For threads of a device: there is something to do. Takes the engine's lock. */
  protected final void news() {
    onNews.run();
  }

  // Ranks that are gone.

  /** Fails all that waits for a rank or for any rank, and whatever is started later with it. */
  @Override
  public final void gone(int peer, RankGoneException why) {
    if (gone == null) {
      gone = new RankGoneException[size];
    }
    if (gone[peer] != null) {
      return;
    }
    gone[peer] = why;
    Peer lost = peers[peer];
    if (lost != null) {
      while (!lost.control.isEmpty()) {
        lost.control.removeFirst();
      }
      while (lost.sends.head != null) {
        Operation send = lost.sends.head;
        lost.sends.remove(send);
        fail(send, why);
      }
      while (lost.streams.head != null) {
        lost.streams.remove(lost.streams.head); // Failed below, by its number.
      }
    }
    for (int i = 0; i < table.slots(); i++) {
      Operation o = table.inSlot(i);
      if (o != null && (o.receive ? o.fromSource : o.peer) == peer) {
        forget(o);
        fail(o, why);
      }
    }
    matcher.dropAnnounced(peer);
    Operation receive;
    while ((receive = matcher.withdrawOneOf(peer)) != null) {
      fail(receive, why);
    }
    onArrival.run(); // Who probes looks again.
  }

  @Override
  public final boolean isGone(int peer) {
    return gone != null && gone[peer] != null;
  }

  /** Why nothing can come from a rank, or from any, in a context; null if something can. */
  private CommunicationException whyNot(int peer, int context) {
    if (gone == null) {
      return null;
    }
    CommunicationException why = revoked.get(context);
    if (why != null) {
      return why;
    }
    if (peer != ANY_SOURCE) {
      return gone[peer];
    }
    for (int i = 0; i < size; i++) {
      if (gone[i] != null && matcher.of(context).waitsFor(i)) {
        return gone[i];
      }
    }
    return null;
  }

  @Override
  public final void members(int context, int[] ranks) {
    matcher.of(context).members(ranks);
  }

  @Override
  public final void revoke(int context, CommunicationException why) {
    if (revoked.putIfAbsent(context, why) != null) {
      return;
    }
    if (gone == null) {
      gone = new RankGoneException[size];
    }
    Operation receive;
    while ((receive = matcher.withdrawOneIn(context)) != null) {
      fail(receive, why);
    }
    for (Peer peer : peers) {
      Operation next;
      for (Operation o = peer == null ? null : peer.sends.head; o != null; o = next) {
        next = o.next;
        if (o.context == context) {
          peer.sends.remove(o);
          fail(o, why);
        }
      }
    }
    for (int i = 0; i < table.slots(); i++) {
      Operation o = table.inSlot(i);
      if (o != null && !o.receive && o.context == context && o.state == ANNOUNCED) {
        // The peer decides: it may have begun to receive.
        o.failure = why;
        cancel(o);
      }
    }
    // Messages of this rank to itself.
    Arrival next;
    for (Arrival a = matcher.of(context).first(); a != null; a = next) {
      next = a.nextOfAll;
      if (a.local != null && !a.local.done) {
        matcher.of(context).remove(a);
        fail(a.local, why);
      }
    }
    onArrival.run();
  }

  /**
   * A peer has sent what no rank sends. Throws, unless a device can part with the peer.
   *
   * @param source its rank
   * @param what came
   */
  protected void broken(int source, String what) {
    throw new IllegalStateException("rank " + source + " sent " + what);
  }

  // Sending.

  @Override
  public final void isend(Operation send) {
    if (send.peer == rank) {
      sendToSelf(send);
      return;
    }
    CommunicationException why = whyNot(send.peer, send.context);
    if (why != null) {
      fail(send, why);
      return;
    }
    Peer peer = peer(send.peer);
    boolean left;
    try {
      left = peer.nothingWaits() && emit(peer, send);
    } catch (RuntimeException e) {
      fail(send, e); // The program's memory cannot be read.
      return;
    }
    if (!left) {
      send.state = QUEUED;
      peer.sends.add(send);
      list(peer);
    }
  }

  private Peer peer(int to) {
    Peer peer = peers[to];
    if (peer == null) {
      peer = new Peer(to, connect(to));
      peers[to] = peer;
    }
    return peer;
  }

  private void list(Peer peer) {
    if (!peer.listed) {
      peer.listed = true;
      if (waitingCount == waiting.length) {
        waiting = Arrays.copyOf(waiting, waitingCount * 2);
      }
      waiting[waitingCount++] = peer;
    }
  }

  /** Sends a message or its announcement; false if there is no room. */
  @NotInlined
  private boolean emit(Peer peer, Operation send) {
    long bytes = send.payload.bytes();
    if (bytes > eagerBytes || !hasCredit(peer, bytes)) {
      return announce(peer, send, bytes);
    }
    FrameOutput output = peer.output;
    boolean brief = !send.synchronous && output.takesShortHeaders();
    int header = brief ? Frames.SHORT_HEADER : Frames.HEADER;
    int length = header + (int) bytes;
    long at = output.claim(Frames.room(length - Frames.HEADER));
    if (at < 0) {
      return false;
    }
    MemorySegment to = output.segment();
    send.payload.get(0, to, at + header, (int) bytes);
    int type = send.payload.typeCode();
    if (brief) {
      Frames.shortHeader(to, at, type, send.context, send.tag);
    } else {
      byte kind = Frames.EAGER;
      if (send.synchronous) {
        kind = Frames.EAGER_SYNC;
        send.id = table.add(send);
        send.state = ANNOUNCED;
      }
      Frames.header(to, at, kind, type, (short) 0, send.context, send.tag, bytes, send.id);
    }
    output.publish(at, length);
    peer.creditUsed += bytes + CREDIT_PER_MESSAGE;
    send.bytes = bytes;
    if (!send.synchronous) {
      send.complete(Operation.OK);
    }
    return true;
  }

  private boolean hasCredit(Peer peer, long bytes) {
    long wanted = peer.creditUsed + bytes + CREDIT_PER_MESSAGE;
    if (wanted - peer.creditSeen <= creditBytes) {
      return true;
    }
    peer.creditSeen = peer.output.creditReturned();
    return wanted - peer.creditSeen <= creditBytes;
  }

  private boolean announce(Peer peer, Operation send, long bytes) {
    FrameOutput output = peer.output;
    MemorySegment memory = bytes >= output.fetchFrom() ? send.payload.memory() : null;
    int payload = memory == null ? 0 : Frames.EXPOSED;
    long at = output.claim(Frames.room(payload));
    if (at < 0) {
      return false;
    }
    Exposure exposure = memory == null ? null : output.expose(memory);
    MemorySegment to = output.segment();
    if (exposure == null) {
      payload = 0;
    } else {
      Frames.exposed(to, at, exposure.address(), exposure.key());
      send.attachment = exposure;
      send.bytes = bytes;
    }
    send.id = table.add(send);
    send.state = ANNOUNCED;
    int type = send.payload.typeCode();
    Frames.header(to, at, Frames.RTS, type, (short) 0, send.context, send.tag, bytes, send.id);
    output.publish(at, Frames.HEADER + payload);
    return true;
  }

  /** An operation that has a number is over. */
  private void forget(Operation operation) {
    table.remove(operation.id);
    if (operation.attachment instanceof Exposure exposure) {
      operation.attachment = null;
      exposure.release();
    }
  }

  private void control(int to, byte kind, long id, long receiverId, long bytes) {
    if (gone != null && gone[to] != null) {
      return;
    }
    Peer peer = peer(to);
    if (!peer.control.isEmpty() || !emitControl(peer, kind, id, receiverId, bytes)) {
      peer.control.add(kind, id, receiverId, bytes);
      list(peer);
    }
  }

  private static boolean emitControl(Peer peer, byte kind, long id, long receiverId, long bytes) {
    FrameOutput output = peer.output;
    long at = output.claim(Frames.HEADER);
    if (at < 0) {
      return false;
    }
    Frames.header(output.segment(), at, kind, 0, (short) 0, 0, 0, bytes, id);
    Frames.receiverId(output.segment(), at, receiverId);
    output.publish(at, Frames.HEADER);
    return true;
  }

  /** Sends what waited, as far as there is room; returns how many frames. */
  private int flush(Peer peer) {
    int sent = 0;
    ControlQueue control = peer.control;
    while (!control.isEmpty()) {
      if (!emitControl(
          peer, (byte) control.first(0), control.first(1), control.first(2), control.first(3))) {
        return sent;
      }
      control.removeFirst();
      sent++;
    }
    while (peer.sends.head != null) {
      Operation send = peer.sends.head;
      Operation next = send.next;
      try {
        if (!emit(peer, send)) {
          return sent;
        }
      } catch (RuntimeException e) {
        fail(send, e);
      }
      // emit may have completed it, but has not touched its links.
      send.next = next;
      peer.sends.remove(send);
      sent++;
    }
    while (peer.streams.head != null) {
      Operation send = peer.streams.head;
      if (!emitChunk(peer, send)) {
        return sent;
      }
      peer.streams.remove(send);
      if (!send.done) {
        peer.streams.add(send);
      }
      sent++;
    }
    return sent;
  }

  private static void fail(Operation operation, RuntimeException e) {
    operation.failure = e;
    operation.complete(Operation.FAILED);
    operation.payload.failed();
  }

  private boolean emitChunk(Peer peer, Operation send) {
    FrameOutput output = peer.output;
    int length = (int) Math.min(output.chunk(send.toMove), send.toMove - send.moved);
    long at = output.claim(Frames.room(length));
    if (at < 0) {
      return false;
    }
    MemorySegment to = output.segment();
    RuntimeException failure = null;
    try {
      send.payload.get(send.moved, to, at + Frames.HEADER, length);
    } catch (RuntimeException e) {
      // The memory is gone: the receiver must not wait for the rest.
      failure = e;
      length = 0;
    }
    short flags = failure == null ? 0 : Frames.SENDER_FAILED;
    Frames.header(to, at, Frames.DATA, 0, flags, 0, 0, send.moved, send.peerId);
    output.publish(at, Frames.HEADER + length);
    send.moved += length;
    if (failure != null) {
      forget(send);
      fail(send, failure);
    } else if (send.moved == send.toMove) {
      forget(send);
      send.bytes = send.payload.bytes();
      send.complete(Operation.OK);
    }
    return true;
  }

  // Receiving.

  @Override
  public final void irecv(Operation receive) {
    ContextQueues queues = matcher.of(receive.context);
    Arrival arrival = queues.find(receive.peer, receive.tag);
    if (arrival == null) {
      CommunicationException why = whyNot(receive.peer, receive.context);
      if (why != null) {
        fail(receive, why);
        return;
      }
      matcher.post(receive);
    } else {
      queues.remove(arrival);
      deliver(arrival, receive);
    }
  }

  @Override
  public final void imrecv(Matched message, Operation receive) {
    deliver((Arrival) message, receive);
  }

  private void deliver(Arrival a, Operation receive) {
    a.describe(receive);
    if (a.local != null) {
      deliverLocal(a, receive);
    } else if (a.data != null) {
      giveBack(a.source, a.bytes);
      if (a.id >= 0) {
        control(a.source, Frames.MATCHED, a.id, 0, 0);
      }
      fill(receive, a.data, 0, a.bytes);
    } else if (gone != null && gone[a.source] != null) {
      fail(receive, gone[a.source]);
    } else {
      askForData(receive, a.id, a.remoteAddress, a.remoteKey);
    }
  }

  private static boolean wrongType(Operation receive) {
    int theirs = receive.fromType;
    int ours = receive.payload.typeCode();
    return theirs != ours
        && theirs != Payload.PACKED
        && ours != Payload.PACKED
        && receive.sentBytes > 0;
  }

  /** Ends a receive with data that are all here. */
  private static void fill(Operation receive, MemorySegment from, long at, long bytes) {
    if (wrongType(receive)) {
      receive.bytes = 0;
      receive.complete(Operation.TYPE_MISMATCH);
      return;
    }
    long fits = Math.min(bytes, receive.payload.bytes());
    receive.bytes = fits;
    try {
      receive.payload.begin(fits);
      receive.payload.put(0, from, at, (int) fits);
    } catch (RuntimeException e) {
      fail(receive, e);
      return;
    }
    receive.complete(fits < bytes ? Operation.TRUNCATED : Operation.OK);
  }

  /** Prepares a receive for data in pieces: how many of them are wanted, or 0 if it is over. */
  private static long prepare(Operation receive) {
    if (wrongType(receive)) {
      receive.bytes = 0;
      receive.complete(Operation.TYPE_MISMATCH);
      return 0;
    }
    long fits = Math.min(receive.sentBytes, receive.payload.bytes());
    receive.bytes = fits;
    receive.toMove = fits;
    try {
      receive.payload.begin(fits);
    } catch (RuntimeException e) {
      fail(receive, e);
      return 0;
    }
    if (fits == 0) {
      finish(receive);
    }
    return fits;
  }

  private static void finish(Operation receive) {
    receive.complete(receive.bytes < receive.sentBytes ? Operation.TRUNCATED : Operation.OK);
  }

  private void askForData(Operation receive, long senderId, long address, long key) {
    long wanted = prepare(receive);
    if (wanted > 0) {
      receive.id = table.add(receive);
      receive.peerId = senderId;
      if (key >= 0 && fetch(receive, wanted, address, key)) {
        receive.state = FETCHING;
        return;
      }
    }
    control(receive.fromSource, Frames.CTS, senderId, receive.id, wanted);
  }

  private boolean fetch(Operation receive, long wanted, long address, long key) {
    FrameOutput output = peer(receive.fromSource).output;
    MemorySegment into = wanted < output.fetchFrom() ? null : receive.payload.memory();
    return into != null
        && !into.isReadOnly()
        && output.fetch(into.asSlice(0, wanted), address, key, receive.id);
  }

  @Override
  public final void fetched(long id) {
    Operation receive = table.get(id);
    if (receive == null || receive.state != FETCHING) {
      throw new IllegalStateException("a receive that is not under way was fetched");
    }
    table.remove(id);
    control(receive.fromSource, Frames.MATCHED, receive.peerId, 0, 0);
    finish(receive);
  }

  private void giveBack(int source, long bytes) {
    creditGiven[source] += bytes + CREDIT_PER_MESSAGE;
    inputOf[source].returnCredit(creditGiven[source]);
  }

  @Override
  public final int progress(int budget) {
    int happened = discover();
    for (int i = 0; i < inputCount; i++) {
      FrameInput input = inputs[i];
      int source = inputRank[i];
      for (int k = 0; k < budget; k++) {
        long at = input.poll();
        if (at < 0) {
          break;
        }
        MemorySegment from = input.segment();
        int length = Frames.length(from, at);
        handle(source, from, at, length - Frames.HEADER);
        input.consume(length);
        happened++;
      }
    }
    if (waitingCount > 0) {
      happened += flushWaiting();
    }
    return happened;
  }

  private int flushWaiting() {
    int sent = 0;
    int kept = 0;
    int before = waitingCount;
    for (int i = 0; i < before; i++) {
      Peer peer = waiting[i];
      sent += flush(peer);
      if (peer.idle()) {
        peer.listed = false;
      } else {
        waiting[kept++] = peer;
      }
    }
    // Nothing was listed meanwhile: completing an operation runs no code of anybody.
    Arrays.fill(waiting, kept, before, null);
    waitingCount = kept;
    return sent;
  }

  private void handle(int source, MemorySegment from, long at, int payload) {
    int word = Frames.word(from, at);
    switch (Frames.kind(word)) {
      case Frames.EAGER_SHORT -> {
        int bytes = Frames.HEADER + payload - Frames.SHORT_HEADER;
        message(source, word, from, at, at + Frames.SHORT_HEADER, bytes);
      }
      case Frames.EAGER, Frames.EAGER_SYNC, Frames.RTS ->
          message(source, word, from, at, at + Frames.HEADER, payload);
      case Frames.DATA -> data(source, word, from, at, payload);
      case Frames.CTS -> clearToSend(source, from, at);
      case Frames.MATCHED -> ended(source, Frames.id(from, at), Operation.OK);
      case Frames.CANCELLED -> ended(source, Frames.id(from, at), Operation.CANCELLED);
      case Frames.CANCEL -> {
        long id = Frames.id(from, at);
        Arrival arrival = matcher.takeById(source, id);
        if (arrival != null) {
          if (arrival.data != null) {
            giveBack(source, arrival.bytes);
          }
          control(source, Frames.CANCELLED, id, 0, 0);
        }
      }
      default -> broken(source, "a frame of unknown kind " + Frames.kind(word));
    }
  }

  @NotInlined
  private void message(
      int source, int word, MemorySegment from, long at, long payloadAt, int payload) {
    int context = Frames.context(from, at);
    int tag = Frames.tag(from, at);
    int kind = Frames.kind(word);
    if (kind == Frames.RTS && isGone(source)) {
      return; // Its data cannot come any more.
    }
    long bytes = kind == Frames.RTS ? Frames.messageBytes(from, at) : payload;
    long id = kind == Frames.EAGER_SYNC || kind == Frames.RTS ? Frames.id(from, at) : -1;
    Operation receive = matcher.takePosted(source, context, tag);
    if (receive == null) {
      MemorySegment data = null;
      if (kind != Frames.RTS) {
        data = MemorySegment.ofArray(new byte[payload]);
        MemorySegment.copy(from, payloadAt, data, 0, payload);
      }
      Arrival arrival = new Arrival(source, context, tag, Frames.type(word), bytes, data, id, null);
      if (kind == Frames.RTS && payload != 0) {
        arrival.remoteAddress = Frames.exposedAddress(from, at);
        arrival.remoteKey = Frames.exposedKey(from, at);
      }
      matcher.of(context).add(arrival);
      onArrival.run();
      return;
    }
    receive.fromSource = source;
    receive.fromTag = tag;
    receive.fromType = Frames.type(word);
    receive.sentBytes = bytes;
    if (kind == Frames.RTS) {
      boolean exposed = payload != 0;
      askForData(
          receive,
          id,
          exposed ? Frames.exposedAddress(from, at) : 0,
          exposed ? Frames.exposedKey(from, at) : -1);
      return;
    }
    giveBack(source, bytes);
    if (id >= 0) {
      control(source, Frames.MATCHED, id, 0, 0);
    }
    fill(receive, from, payloadAt, bytes);
  }

  private void data(int source, int word, MemorySegment from, long at, int payload) {
    Operation receive = table.get(Frames.id(from, at));
    if (receive == null) {
      return; // It failed here before; the rest goes nowhere.
    }
    long place = Frames.messageBytes(from, at);
    if (!receive.receive
        || receive.state == FETCHING
        || receive.fromSource != source
        || place > receive.toMove - payload) {
      broken(source, "unexpected data: " + payload + " bytes at offset " + place);
      return;
    }
    if ((Frames.flags(word) & Frames.SENDER_FAILED) != 0) {
      table.remove(receive.id);
      fail(receive, new IllegalStateException("the sender's memory was closed while it was read"));
      return;
    }
    try {
      receive.payload.put(place, from, at + Frames.HEADER, payload);
    } catch (RuntimeException e) {
      table.remove(receive.id);
      fail(receive, e);
      return;
    }
    receive.moved += payload;
    if (receive.moved == receive.toMove) {
      table.remove(receive.id);
      finish(receive);
    }
  }

  private void clearToSend(int source, MemorySegment from, long at) {
    Operation send = underWay(source, Frames.id(from, at));
    long wanted = Frames.messageBytes(from, at);
    if (send == null || send.state == STREAMING || wanted > send.payload.bytes()) {
      broken(source, "a demand for " + wanted + " bytes of a message that does not have them");
      return;
    }
    send.failure = null; // It was received before its context was revoked.
    send.toMove = wanted;
    send.peerId = Frames.receiverId(from, at);
    if (send.toMove == 0) {
      forget(send);
      send.bytes = send.payload.bytes();
      send.complete(Operation.OK);
      return;
    }
    send.state = STREAMING;
    Peer peer = peer(source);
    peer.streams.add(send);
    list(peer);
  }

  private void ended(int source, long id, int code) {
    Operation send = underWay(source, id);
    if (send == null) {
      broken(source, "an answer to a message that is not under way");
      return;
    }
    forget(send);
    if (code == Operation.CANCELLED && send.failure != null) {
      fail(send, send.failure);
    } else {
      send.failure = null;
      send.complete(code);
    }
  }

  /** The send to a rank that has the number, or null. */
  private Operation underWay(int to, long id) {
    Operation send = table.get(id);
    return send == null || send.receive || send.peer != to ? null : send;
  }

  // To oneself.

  private void sendToSelf(Operation send) {
    long bytes = send.payload.bytes();
    send.bytes = bytes;
    Operation receive = matcher.takePosted(rank, send.context, send.tag);
    boolean copy = receive == null && !send.synchronous && bytes <= eagerBytes;
    MemorySegment data = null;
    if (copy) {
      data = MemorySegment.ofArray(new byte[(int) bytes]);
      try {
        send.payload.get(0, data, 0, (int) bytes);
      } catch (RuntimeException e) {
        fail(send, e);
        return;
      }
    }
    Operation local = send;
    if (copy) {
      // The message stands for itself; the program's send is over.
      local = new Operation();
      local.done = true;
    }
    Arrival arrival =
        new Arrival(rank, send.context, send.tag, send.payload.typeCode(), bytes, data, -1, local);
    if (receive != null) {
      arrival.describe(receive);
      deliverLocal(arrival, receive);
      return;
    }
    matcher.of(send.context).add(arrival);
    if (copy) {
      send.complete(Operation.OK);
    } else {
      send.state = ANNOUNCED;
      send.attachment = arrival;
    }
    onArrival.run();
  }

  private void deliverLocal(Arrival a, Operation receive) {
    if (a.data != null) {
      fill(receive, a.data, 0, a.bytes);
      return;
    }
    long wanted = prepare(receive);
    if (loopback == null) {
      loopback = Arena.ofAuto().allocate(chunkBytes, 64);
    }
    try {
      for (long at = 0; at < wanted; at += chunkBytes) {
        int length = (int) Math.min(chunkBytes, wanted - at);
        a.local.payload.get(at, loopback, 0, length);
        receive.payload.put(at, loopback, 0, length);
      }
    } catch (RuntimeException e) {
      fail(receive, e);
      fail(a.local, e);
      return;
    }
    if (!receive.done) {
      finish(receive);
    }
    a.local.complete(Operation.OK);
  }

  // Probing and cancelling.

  @Override
  public final boolean iprobe(int source, int tag, int context, Operation out) {
    Arrival arrival = matcher.of(context).find(source, tag);
    if (arrival == null) {
      throwIfNone(source, context);
      return false;
    }
    arrival.describe(out);
    return true;
  }

  @Override
  public final Matched improbe(int source, int tag, int context, Operation out) {
    ContextQueues queues = matcher.of(context);
    Arrival arrival = queues.find(source, tag);
    if (arrival != null) {
      queues.remove(arrival);
      arrival.describe(out);
    } else {
      throwIfNone(source, context);
    }
    return arrival;
  }

  private void throwIfNone(int source, int context) {
    CommunicationException why = whyNot(source, context);
    if (why instanceof RankGoneException lost) {
      throw new RankGoneException(lost.rank(), lost.getMessage());
    }
    if (why != null) {
      throw new CommunicationException(why.kind(), why.getMessage());
    }
  }

  @Override
  public final void cancel(Operation operation) {
    if (operation.done) {
      return;
    }
    if (operation.receive) {
      if (operation.state == Matcher.POSTED) {
        matcher.withdraw(operation);
        operation.complete(Operation.CANCELLED);
      }
    } else if (operation.state == QUEUED) {
      peers[operation.peer].sends.remove(operation);
      operation.complete(Operation.CANCELLED);
    } else if (operation.state == ANNOUNCED) {
      if (operation.peer == rank) {
        Arrival arrival = (Arrival) operation.attachment;
        if (matcher.of(arrival.context).holds(arrival)) {
          matcher.of(arrival.context).remove(arrival);
          operation.complete(Operation.CANCELLED);
        }
      } else {
        operation.state = CANCELLING;
        control(operation.peer, Frames.CANCEL, operation.id, 0, 0);
      }
    }
  }

  @Override
  public final boolean isAwaited(int context) {
    return matcher.isAwaited(context);
  }

  @Override
  public final void release(int context) {
    ContextQueues queues = matcher.release(context);
    for (Arrival a = queues == null ? null : queues.first(); a != null; a = a.nextOfAll) {
      if (a.data != null && a.local == null) {
        giveBack(a.source, a.bytes);
      }
    }
  }

  // Ends and sleeps.

  @Override
  public final boolean flushed() {
    if (waitingCount > 0) {
      return false;
    }
    for (Peer peer : peers) {
      if (peer != null && !peer.output.flushed()) {
        return false;
      }
    }
    return true;
  }

  /** Whether a frame has arrived, or one that waits would find room. */
  protected final boolean somethingToDo() {
    if (discover() > 0) {
      return true;
    }
    for (int i = 0; i < inputCount; i++) {
      if (inputs[i].poll() >= 0) {
        return true;
      }
    }
    for (int i = 0; i < waitingCount; i++) {
      if (waiting[i].output.hasRoom()) {
        return true;
      }
    }
    return false;
  }

  /** How many messages have come that were not received. */
  protected final int notReceived() {
    return matcher.arrivals();
  }

  /** How many operations a peer holds a number of: sends and receives under way. */
  public final int numbered() {
    return table.size();
  }

  /** Closes the inputs and outputs of all peers. */
  protected final void closePeers() {
    for (int i = 0; i < inputCount; i++) {
      inputs[i].close();
    }
    for (Peer peer : peers) {
      if (peer != null) {
        peer.output.close();
      }
    }
  }
}
