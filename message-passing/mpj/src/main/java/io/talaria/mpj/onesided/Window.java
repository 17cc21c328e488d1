// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.BytesPayload;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.Payload;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.engine.Engine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * The windows of the ranks of a group. Any thread may call it; who may access what, and when, the
 * caller checks. Accesses to memory that this process has are done at return. Others are messages,
 * which the target serves in order; they are done after {@link #flush}. The origin's elements are
 * copied at once, so its buffer may be changed at return.
 *
 * <p>All mutable fields are guarded by the engine's lock.
 */
public final class Window {
  /** A multiple of 16, so that no element and no pair is parted. */
  private static final int PIECE_BYTES = 256 * 1024;

  /** What may be under way to a target before the origin waits. */
  private static final long MAX_UNFLUSHED_BYTES = 4 * 1024 * 1024;

  /** What a message counts beside its data. */
  private static final int MESSAGE_BYTES = 64;

  private static final int SHARED = 1;
  private static final int EXCLUSIVE = 2;
  private static final long NO_REQUEST = -1;
  private static final List<Arithmetic> OPERATIONS = List.of(Arithmetic.values());

  private record LockRequest(int source, boolean exclusive) {}

  /** A request that waits for elements. */
  private static final class Fetch {
    private final int target;
    private final Payload into;

    /** Over when all elements are there; null if only a flush tells. */
    private final Operation over;

    private long left;

    Fetch(TargetPart target, Part result, Operation over) {
      this.target = target.rank();
      this.into = result.payload();
      this.left = into.bytes();
      this.over = over;
    }

    /** Ends the operation; whether there is one. Under the lock. */
    boolean end(RuntimeException failure) {
      if (over != null) {
        Engine.endHeld(over, failure);
      }
      return over != null;
    }
  }

  private final Windows windows;
  private final Engine engine;
  private final Device device;
  private final int context;
  private final int[] world;
  private final int rank;

  /** By rank; null where this process cannot access it. */
  private final WindowMemory[] memory;

  /** By rank; null for this one. */
  private final Inbox[] inboxes;

  private final boolean reachedByMessages;

  // As the origin, by target.
  private final long[] unflushed;
  private final boolean[] dirty;
  private final long[] flushesSent;
  private final long[] flushesDone;
  private final boolean[] granted;

  /** Locks asked for by a call that has failed: 0, SHARED or EXCLUSIVE. */
  private final int[] unwanted;

  private final int[] posts;
  private final CommunicationException[] failures;
  private final Map<Long, Fetch> fetches = new HashMap<>();
  private long requests;

  // As the target.
  private final int[] completions;
  private final ArrayDeque<LockRequest> lockRequests = new ArrayDeque<>();
  private volatile boolean hasLockRequests;

  /** Why it cannot be used any more at any rank, or null. */
  private volatile CommunicationException revoked;

  private boolean closed;

  /**
   * Opens it; each rank of the group does.
   *
   * @param windows of this rank
   * @param engine of this rank
   * @param context for the messages of this window alone
   * @param world numbers of the ranks in the job
   * @param rank this one in the group
   * @param memory by rank; null where this process cannot access it, never for itself
   */
  public Window(
      Windows windows, Engine engine, int context, int[] world, int rank, WindowMemory[] memory) {
    this.windows = windows;
    this.engine = engine;
    this.device = engine.device();
    this.context = context;
    this.world = world;
    this.rank = rank;
    this.memory = memory;
    int n = world.length;
    inboxes = new Inbox[n];
    unflushed = new long[n];
    dirty = new boolean[n];
    flushesSent = new long[n];
    flushesDone = new long[n];
    granted = new boolean[n];
    unwanted = new int[n];
    posts = new int[n];
    failures = new CommunicationException[n];
    completions = new int[n];
    boolean messages = false;
    for (int i = 0; i < n; i++) {
      messages |= memory[i] == null;
      if (memory[i] != null) {
        memory[i].whileMutexIsHeld(rank, this::throwIfGone);
      }
      if (i != rank) {
        inboxes[i] = new Inbox(this, i, windows.ready());
      }
    }
    reachedByMessages = messages;
    windows.opened(this);
    engine.locked(
        () -> {
          for (Inbox inbox : inboxes) {
            if (inbox != null) {
              inbox.post(device, world[inbox.source], context);
            }
          }
        });
  }

  /**
   * Ends it. All ranks have done their accesses, and know it of each other, or it was revoked: then
   * a message may still come.
   */
  public void close() {
    engine.locked(
        () -> {
          closed = true;
          lockRequests.clear();
          hasLockRequests = false;
          for (Inbox inbox : inboxes) {
            if (inbox != null) {
              inbox.withdraw(device);
            }
          }
        });
    windows.closed(this);
  }

  boolean isReachedByMessages() {
    return reachedByMessages;
  }

  boolean hasLockRequests() {
    return hasLockRequests;
  }

  // Accesses.

  /**
   * Replaces elements of a target.
   *
   * @param origin as many elements as the target has
   */
  public void put(Part origin, TargetPart target) {
    WindowMemory direct = memory[target.rank()];
    if (direct != null) {
      direct.put(origin, target);
      return;
    }
    send(WindowMessage.PUT, Arithmetic.REPLACE, origin, target, null);
  }

  /** Combines elements of a target with others; single elements atomically. */
  public void accumulate(Part origin, TargetPart target, Arithmetic op) {
    if (memory[target.rank()] != null) {
      combineHere(origin, null, target, op);
    } else {
      send(WindowMessage.ACCUMULATE, op, origin, target, null);
    }
  }

  /**
   * Combines elements of a target with others, and fetches what was there before.
   *
   * @param origin null if the operation is NO_OP
   * @param result as many elements as the target has
   */
  public void fetch(Part origin, Part result, TargetPart target, Arithmetic op) {
    if (memory[target.rank()] != null) {
      combineHere(origin, result, target, op);
    } else {
      send(WindowMessage.FETCH, op, origin, target, new Fetch(target, result, null));
    }
  }

  /**
   * Does what {@link #fetch} does, with an operation for it alone.
   *
   * @return over when the result is there; null if it is
   */
  public Operation startFetch(Part origin, Part result, TargetPart target, Arithmetic op) {
    if (memory[target.rank()] != null || target.bytes() == 0) {
      fetch(origin, result, target, op);
      return null;
    }
    Operation over = engine.promise();
    send(WindowMessage.FETCH, op, origin, target, new Fetch(target, result, over));
    return over;
  }

  /**
   * Reads elements of a target.
   *
   * @param result as many elements as the target has
   */
  public void get(Part result, TargetPart target) {
    WindowMemory direct = memory[target.rank()];
    if (direct != null) {
      direct.get(result, target);
    } else {
      send(WindowMessage.GET, Arithmetic.NO_OP, null, target, new Fetch(target, result, null));
    }
  }

  /**
   * Does what {@link #get} does, with an operation for it alone.
   *
   * @return over when the elements are there; null if they are
   */
  public Operation startGet(Part result, TargetPart target) {
    if (memory[target.rank()] != null || target.bytes() == 0) {
      get(result, target);
      return null;
    }
    Operation over = engine.promise();
    send(WindowMessage.GET, Arithmetic.NO_OP, null, target, new Fetch(target, result, over));
    return over;
  }

  /** Writes one element if the target has the expected one, and fetches what was there before. */
  public void compareAndSwap(Part origin, Part expected, Part result, TargetPart target) {
    int bytes = target.layout().base().bytes();
    MemorySegment both = MemorySegment.ofArray(new byte[2 * bytes]);
    expected.payload().get(0, both, 0, bytes);
    origin.payload().get(0, both, bytes, bytes);
    WindowMemory direct = memory[target.rank()];
    if (direct == null) {
      Fetch fetch = new Fetch(target, result, null);
      byte[] data = both.toArray(ValueLayout.JAVA_BYTE);
      sendPiece(WindowMessage.SWAP, 0, target, 0, bytes, data, request(fetch));
      return;
    }
    MemorySegment old = MemorySegment.ofArray(new byte[bytes]);
    inMemory(
        direct,
        () -> {
          long before =
              direct.compareAndSwap(
                  target, Cells.read(both, 0, bytes), Cells.read(both, bytes, bytes));
          Cells.write(old, 0, bytes, before);
        });
    result.payload().put(0, old, 0, bytes);
  }

  /** Memory of this process alone is combined under the lock, because messages are. */
  private void inMemory(WindowMemory direct, Runnable access) {
    if (direct.isShared()) {
      access.run();
      return;
    }
    RuntimeException[] failure = new RuntimeException[1];
    engine.locked(
        () -> {
          try {
            access.run();
          } catch (RuntimeException e) {
            failure[0] = e;
          }
        });
    if (failure[0] != null) {
      throw failure[0];
    }
  }

  private void combineHere(Part origin, Part result, TargetPart target, Arithmetic op) {
    WindowMemory direct = memory[target.rank()];
    Payload from = origin == null ? null : origin.payload();
    Payload into = result == null ? null : result.payload();
    long bytes = target.bytes();
    int most = (int) Math.min(bytes, PIECE_BYTES);
    MemorySegment data = MemorySegment.ofArray(new byte[from == null ? 0 : most]);
    MemorySegment old = into == null ? null : MemorySegment.ofArray(new byte[most]);
    for (long i = 0; i < bytes; i += PIECE_BYTES) {
      long at = i;
      int length = (int) Math.min(PIECE_BYTES, bytes - at);
      if (from != null) {
        from.get(at, data, 0, length);
      }
      inMemory(direct, () -> direct.accumulate(target, at, data, 0, length, op, old, 0));
      if (into != null) {
        into.put(at, old, 0, length);
      }
    }
  }

  /** A number for a request that is answered with elements. */
  private long request(Fetch fetch) {
    if (fetch == null) {
      return NO_REQUEST;
    }
    long[] id = new long[1];
    engine.locked(
        () -> {
          id[0] = requests++;
          fetches.put(id[0], fetch);
        });
    return id[0];
  }

  private void send(int kind, Arithmetic op, Part origin, TargetPart target, Fetch fetch) {
    Payload from = origin == null ? null : origin.payload();
    long bytes = target.bytes();
    if (bytes == 0) {
      return;
    }
    long id = request(fetch);
    for (long at = 0; at < bytes; at += PIECE_BYTES) {
      int length = (int) Math.min(PIECE_BYTES, bytes - at);
      byte[] data = null;
      if (from != null) {
        data = new byte[length];
        from.get(at, MemorySegment.ofArray(data), 0, length);
      }
      sendPiece(kind, OPERATIONS.indexOf(op), target, at, length, data, id);
    }
  }

  private void sendPiece(
      int kind, int op, TargetPart target, long at, int length, byte[] data, long id) {
    int dataBytes = data == null ? 0 : data.length;
    byte[] bytes = WindowMessage.request(kind, op, id, target, at, length, dataBytes);
    if (data != null) {
      System.arraycopy(data, 0, bytes, bytes.length - dataBytes, dataBytes);
    }
    int to = target.rank();
    boolean[] full = new boolean[1];
    CommunicationException[] gone = new CommunicationException[1];
    engine.locked(
        () -> {
          gone[0] = revoked != null ? revoked : inboxes[to].gone();
          if (gone[0] != null) {
            fetches.remove(id);
            return;
          }
          dirty[to] = true;
          unflushed[to] += length + MESSAGE_BYTES;
          full[0] = unflushed[to] > MAX_UNFLUSHED_BYTES;
          post(to, bytes);
        });
    if (gone[0] != null) {
      throw again(gone[0]);
    }
    if (full[0]) {
      // Whether accesses failed is told where they end: this one has to be sent whole.
      startFlushes(i -> i == to);
      awaitRanks(i -> i == to && flushesDone[i] < flushesSent[i]);
    }
  }

  private static CommunicationException again(CommunicationException why) {
    return why instanceof RankGoneException gone
        ? new RankGoneException(gone.rank(), gone.getMessage())
        : new CommunicationException(why.kind(), why.getMessage());
  }

  /** Sends a message; under the lock. */
  private void post(int to, byte[] bytes) {
    device.isend(
        new Operation().send(new BytesPayload(BaseType.PACKED, bytes), world[to], 0, context));
  }

  private void control(int to, int kind, int op, long id) {
    post(to, WindowMessage.control(kind, op, id, 0, 0));
  }

  // Completion.

  /** Waits until all accesses to a target are done. */
  public void flush(int to) {
    flush(i -> i == to);
  }

  /**
   * Waits until all accesses to some targets are done, and throws if one of them failed.
   *
   * @param which ranks
   */
  public void flush(IntPredicate which) {
    startFlushes(which);
    awaitFlushes(which);
  }

  private void startFlushes(IntPredicate which) {
    engine.locked(
        () -> {
          for (int i = 0; i < world.length; i++) {
            if (dirty[i] && which.test(i)) {
              flushStarted(i);
              control(i, WindowMessage.FLUSH, 0, flushesSent[i]);
            }
          }
        });
  }

  private void flushStarted(int to) {
    dirty[to] = false;
    unflushed[to] = 0;
    flushesSent[to]++;
  }

  private void awaitFlushes(IntPredicate which) {
    awaitRanks(i -> which.test(i) && flushesDone[i] < flushesSent[i]);
    CommunicationException[] failure = new CommunicationException[1];
    engine.locked(
        () -> {
          for (int i = 0; i < world.length; i++) {
            if (failures[i] != null && which.test(i)) {
              failure[0] = failures[i];
              failures[i] = null;
            }
          }
        });
    if (failure[0] != null) {
      throw new CommunicationException(failure[0].kind(), failure[0].getMessage());
    }
  }

  /**
   * Waits for ranks; throws if one of them is gone, or the window was revoked.
   *
   * @param missing whether something of a rank has not come; evaluated under the lock
   */
  private void awaitRanks(IntPredicate missing) {
    CommunicationException[] gone = new CommunicationException[1];
    engine.await(
        () -> {
          gone[0] = revoked;
          if (gone[0] != null) {
            return true;
          }
          boolean all = true;
          for (int i = 0; i < world.length; i++) {
            if (missing.test(i)) {
              all = false;
              if (inboxes[i] != null && inboxes[i].gone() != null) {
                gone[0] = inboxes[i].gone();
                return true;
              }
            }
          }
          return all;
        });
    if (gone[0] != null) {
      throw again(gone[0]);
    }
  }

  // Locks.

  /**
   * Waits for locks of targets.
   *
   * @param targets ranks
   */
  public void lock(int[] targets, boolean exclusive) {
    boolean[] asked = new boolean[world.length];
    engine.locked(
        () -> {
          for (int to : targets) {
            if (memory[to] == null) {
              asked[to] = true;
              granted[to] = false;
              control(to, WindowMessage.LOCK, exclusive ? 1 : 0, 0);
            }
          }
        });
    for (int to : targets) {
      if (memory[to] != null) {
        lockHere(memory[to].lock(), exclusive);
      }
    }
    try {
      awaitRanks(i -> asked[i] && !granted[i]);
    } catch (CommunicationException e) {
      giveUp(targets, asked, exclusive);
      throw e;
    }
  }

  /** Gives back what a call has locked that fails, and what it will be granted. */
  private void giveUp(int[] targets, boolean[] asked, boolean exclusive) {
    engine.locked(
        () -> {
          for (int to : targets) {
            if (!asked[to]) {
              memory[to].lock().unlock(exclusive);
            } else if (granted[to]) {
              unlockRemote(to, exclusive);
            } else {
              unwanted[to] = exclusive ? EXCLUSIVE : SHARED;
            }
          }
          grantWaiting();
        });
  }

  private void unlockRemote(int to, boolean exclusive) {
    flushStarted(to);
    control(to, WindowMessage.UNLOCK, exclusive ? 1 : 0, flushesSent[to]);
  }

  private void lockHere(WindowLock lock, boolean exclusive) {
    boolean interrupted = false;
    for (int i = 1; !lock.tryLock(exclusive); i++) {
      engine.progress();
      throwIfAnyIsGone();
      WindowLock.pause(i);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** A rank that has ended may hold a lock in shared memory, and does not give it back. */
  private void throwIfAnyIsGone() {
    for (int i = 0; i < inboxes.length; i++) {
      throwIfGone(i);
    }
  }

  private void throwIfGone(int other) {
    if (revoked != null) {
      throw again(revoked);
    }
    RankGoneException gone = inboxes[other] == null ? null : inboxes[other].gone();
    if (gone != null) {
      throw again(gone);
    }
  }

  /**
   * Waits until all accesses to targets are done, and gives their locks back.
   *
   * @param targets ranks
   */
  public void unlock(int[] targets, boolean exclusive) {
    boolean[] asked = new boolean[world.length];
    engine.locked(
        () -> {
          for (int to : targets) {
            if (memory[to] == null) {
              asked[to] = true;
              unlockRemote(to, exclusive);
            } else {
              memory[to].lock().unlock(exclusive);
            }
          }
          grantWaiting();
        });
    awaitFlushes(i -> asked[i]);
  }

  /** Gives the lock of this rank to those that have asked by messages; under the lock. */
  void grantWaiting() {
    if (closed) {
      return; // Its memory may be gone.
    }
    while (!lockRequests.isEmpty()) {
      LockRequest first = lockRequests.peek();
      if (!memory[rank].lock().tryLock(first.exclusive)) {
        break;
      }
      lockRequests.remove();
      control(first.source, WindowMessage.GRANT, 0, 0);
    }
    hasLockRequests = !lockRequests.isEmpty();
  }

  // Groups that post and start.

  /** Tells ranks that they may access the window of this one. */
  public void post(int[] origins) {
    engine.locked(
        () -> {
          for (int to : origins) {
            if (to == rank) {
              posts[rank]++;
            } else {
              control(to, WindowMessage.POST, 0, 0);
            }
          }
        });
  }

  /** Waits until ranks have posted. */
  public void awaitPosts(int[] targets) {
    boolean[] wanted = which(targets);
    awaitRanks(i -> wanted[i] && posts[i] == 0);
    engine.locked(
        () -> {
          for (int from : targets) {
            posts[from]--;
          }
        });
  }

  /** Waits until all accesses to ranks are done, and tells them. */
  public void complete(int[] targets) {
    boolean[] wanted = which(targets);
    flush(i -> wanted[i]);
    engine.locked(
        () -> {
          for (int to : targets) {
            if (to == rank) {
              completions[rank]++;
            } else {
              control(to, WindowMessage.COMPLETE, 0, 0);
            }
          }
        });
  }

  /** Waits until ranks have completed their accesses. */
  public void awaitCompletions(int[] origins) {
    boolean[] wanted = which(origins);
    awaitRanks(i -> wanted[i] && completions[i] == 0);
    takeCompletions(origins);
  }

  /**
   * Whether ranks have completed their accesses, after some progress; throws if one that has not is
   * gone.
   */
  public boolean testCompletions(int[] origins) {
    engine.progress();
    boolean[] all = {true};
    RankGoneException[] gone = new RankGoneException[1];
    engine.locked(
        () -> {
          for (int from : origins) {
            if (completions[from] == 0) {
              all[0] = false;
              if (inboxes[from] != null && inboxes[from].gone() != null) {
                gone[0] = inboxes[from].gone();
              }
            }
          }
        });
    if (gone[0] != null) {
      throw again(gone[0]);
    }
    if (all[0]) {
      takeCompletions(origins);
    }
    return all[0];
  }

  private void takeCompletions(int[] origins) {
    engine.locked(
        () -> {
          for (int from : origins) {
            completions[from]--;
          }
        });
  }

  private boolean[] which(int[] ranks) {
    boolean[] result = new boolean[world.length];
    for (int i : ranks) {
      result[i] = true;
    }
    return result;
  }

  // Messages; under the lock.

  /** Does what a message says, and posts its receive again. */
  void serve(Inbox inbox) {
    if (closed) {
      return;
    }
    int source = inbox.source;
    WindowMessage m = WindowMessage.of(inbox.content());
    try {
      serve(source, m);
    } catch (RuntimeException e) {
      // The program's memory is gone; the origin must not wait for it.
      boolean range = e instanceof CommunicationException known && known.kind() == Kind.RANGE;
      String text = range ? e.getMessage() : "rank " + rank + " cannot access its window: " + e;
      MemorySegment words = MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
      reply(source, WindowMessage.FAILED, range ? WindowMessage.RANGE : 0, m.id, 0, words);
    }
    inbox.post(device, world[source], context);
  }

  private void reply(int to, int kind, int op, long id, long at, MemorySegment data) {
    byte[] bytes = WindowMessage.control(kind, op, id, at, (int) data.byteSize());
    MemorySegment message = MemorySegment.ofArray(bytes);
    MemorySegment.copy(data, 0, message, bytes.length - data.byteSize(), data.byteSize());
    post(to, bytes);
  }

  private void serve(int source, WindowMessage m) {
    switch (m.kind) {
      case WindowMessage.PUT -> memory[rank].payload(m.part(rank)).put(m.at, m.data, 0, m.length);
      case WindowMessage.ACCUMULATE ->
          memory[rank].accumulate(
              m.part(rank), m.at, m.data, 0, m.length, OPERATIONS.get(m.op), null, 0);
      case WindowMessage.FETCH -> {
        MemorySegment old = MemorySegment.ofArray(new byte[m.length]);
        memory[rank].accumulate(
            m.part(rank), m.at, m.data, 0, m.length, OPERATIONS.get(m.op), old, 0);
        reply(source, WindowMessage.DATA, 0, m.id, m.at, old);
      }
      case WindowMessage.GET -> {
        MemorySegment elements = MemorySegment.ofArray(new byte[m.length]);
        memory[rank].payload(m.part(rank)).get(m.at, elements, 0, m.length);
        reply(source, WindowMessage.DATA, 0, m.id, m.at, elements);
      }
      case WindowMessage.SWAP -> {
        MemorySegment old = MemorySegment.ofArray(new byte[m.length]);
        long before =
            memory[rank].compareAndSwap(
                m.part(rank),
                Cells.read(m.data, 0, m.length),
                Cells.read(m.data, m.length, m.length));
        Cells.write(old, 0, m.length, before);
        reply(source, WindowMessage.DATA, 0, m.id, 0, old);
      }
      case WindowMessage.DATA -> fetched(source, m);
      case WindowMessage.FAILED -> {
        Fetch fetch = fetches.remove(m.id);
        if (fetch == null && m.id != NO_REQUEST) {
          return; // Another piece of it failed before.
        }
        String text = new String(m.data.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        Kind kind = m.op == WindowMessage.RANGE ? Kind.RANGE : Kind.PROGRAM;
        failed(source, fetch, new CommunicationException(kind, text));
      }
      case WindowMessage.FLUSH -> control(source, WindowMessage.ACK, 0, m.id);
      case WindowMessage.ACK -> flushesDone[source] = m.id;
      case WindowMessage.LOCK -> {
        lockRequests.add(new LockRequest(source, m.op != 0));
        grantWaiting();
      }
      case WindowMessage.GRANT -> {
        if (unwanted[source] == 0) {
          granted[source] = true;
        } else {
          unlockRemote(source, unwanted[source] == EXCLUSIVE);
          unwanted[source] = 0;
        }
      }
      case WindowMessage.UNLOCK -> {
        memory[rank].lock().unlock(m.op != 0);
        control(source, WindowMessage.ACK, 0, m.id);
        grantWaiting();
      }
      case WindowMessage.POST -> posts[source]++;
      case WindowMessage.COMPLETE -> completions[source]++;
      default -> throw new IllegalStateException("message of unknown kind " + m.kind);
    }
  }

  private void fetched(int source, WindowMessage m) {
    Fetch fetch = fetches.get(m.id);
    if (fetch == null) {
      return; // Another piece of it failed.
    }
    try {
      fetch.into.put(m.at, m.data, 0, m.length);
    } catch (RuntimeException e) {
      fetches.remove(m.id);
      String why = "rank " + rank + " cannot write the result: " + e;
      failed(source, fetch, new CommunicationException(Kind.PROGRAM, why));
      return;
    }
    fetch.left -= m.length;
    if (fetch.left == 0) {
      fetches.remove(m.id);
      boolean ignored = fetch.end(null);
    }
  }

  /** An access has failed: its own operation, if it has one, or the next flush tells. */
  private void failed(int target, Fetch fetch, CommunicationException why) {
    if (fetch == null || !fetch.end(why)) {
      failures[target] = why;
    }
  }

  /** A rank is gone: what waits for elements from it fails. Under the lock. */
  void gone(int target, RankGoneException why) {
    for (Fetch fetch : fetches.values()) {
      if (fetch.target == target && fetch.end(why)) {
        fetch.left = -1;
      }
    }
    fetches.values().removeIf(fetch -> fetch.left < 0);
  }

  /** A rank has revoked it: whatever waits fails. Under the lock. */
  void revoked(CommunicationException why) {
    revoked = why;
    for (Fetch fetch : fetches.values()) {
      boolean ignored = fetch.end(why);
    }
    fetches.clear();
  }
}
