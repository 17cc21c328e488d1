// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ucx;

import io.talaria.ffi.Libc;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.transport.EndedLinks;
import io.talaria.mpj.device.transport.FrameTransport;
import io.talaria.mpj.device.transport.MissingTransportException;
import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.Status;
import io.talaria.ucx.Ucx;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import io.talaria.ucx.transport.ClosingEndpoints;
import io.talaria.ucx.transport.FailureCheck;
import io.talaria.ucx.transport.OwnedWorker;
import io.talaria.ucx.transport.SendsInFlight;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A rank's worker of UCX and its endpoints, one for each rank that it has sent to.
 *
 * <p>Some places that hold no frame are always posted to UCX as receives of any rank's frames, so
 * that UCX writes an arriving frame where it is read. UCX matches posted receives in the order of
 * posting with the messages of one sender in the order of sending, so what was posted is looked at
 * in that order, although one may be whole before another. What finds no place waits in UCX.
 * Messages arrive in UCX's progress, which reports whether any has; a rank looks again before it
 * sleeps.
 *
 * <p>Nothing happens outside {@link #round}: there are no threads here, and a rank that computes
 * does not answer its peers. UCX's own sockets know no secret; the network must be trusted.
 */
public final class UcxFrameTransport implements FrameTransport {
  /** What the tags of frames begin with; the sender's rank is in the low half. */
  private static final long FRAMES = 0x54L << 56;

  private static final long KIND = 0xffL << 56;
  private static final int MAX_PLACES = 32;
  private static final int MIN_PLACES = 4;
  private static final int PLACES_BYTES = 2 << 20;

  /** Places do not begin at the same place modulo a power of two, where caches would collide. */
  private static final int STAGGER = 192;

  /** So few that small frames are written to lines that the cache still has. */
  private static final int MAX_POSTED = 8;

  private static final int LOOK_EVERY = 16;
  private static final long CLOSE_NS = 500_000_000;

  /** How long a rank sleeps that is not woken for all messages. */
  private static final long UNWOKEN_SLEEP_NS = 1_000_000;

  private final int rank;
  private final int bufferBytes;
  private final long creditBytes;
  private final OwnedWorker owned;
  private final Worker worker;
  private final FailureCheck failures;
  private final ClosingEndpoints closing;

  /** Whether {@link #closing} has some. */
  private boolean closes;

  private final UcxRankAddress rankAddress;
  private final UcxLink[] links;
  private final boolean[] heard;
  private final EndedLinks<UcxLink> endedLinks;
  private final List<UcxLink> owing = new ArrayList<>();
  private List<UcxRankAddress> rankAddresses = List.of();
  private long maxSleepNs = Long.MAX_VALUE;

  private final MemorySegment slots;
  private final int stride;
  private final int longestFrame;

  /** Which frame follows in the queue of its sender. */
  private final int[] following;

  private final int[] free;
  private int freeCount;

  /** Receives that UCX has, in the order of posting, cyclically. */
  private final long[] postedRequest;

  private final int[] postedSlot;
  private int postedFirst;
  private int postedCount;
  private int rounds;

  /** Sends of all links that UCX may still read. */
  private int sendsInFlight;

  /** Whether messages may have waited in UCX for the receives that were posted last. */
  private boolean mayHaveWaited;

  private boolean closed;

  /**
   * Opens a worker. Takes milliseconds and some megabytes.
   *
   * @param rank of this process
   * @param size ranks of the job
   * @param bufferBytes of memory for frames that are being sent to a rank, a power of two from
   *     4096; a quarter is the longest frame
   * @param creditBytes credit of a pair of ranks
   * @param graceNs how long after the end of a link operations fail, nanoseconds: meanwhile the
   *     launcher, who knows more, may end the job
   * @throws MissingTransportException if there is no UCX, or it cannot be used; the message has the
   *     hint
   */
  public UcxFrameTransport(int rank, int size, int bufferBytes, long creditBytes, long graceNs)
      throws MissingTransportException {
    this.rank = rank;
    this.bufferBytes = bufferBytes;
    this.creditBytes = creditBytes;
    longestFrame = longestFrame(bufferBytes);
    stride = longestFrame + STAGGER;
    int places = Math.clamp(PLACES_BYTES / longestFrame, MIN_PLACES, MAX_PLACES);
    links = new UcxLink[size];
    heard = new boolean[size];
    endedLinks = new EndedLinks<>(graceNs);
    following = new int[places];
    free = new int[places];
    postedRequest = new long[MAX_POSTED];
    postedSlot = new int[MAX_POSTED];
    slots = Arena.ofAuto().allocate((long) places * stride, 64);
    for (int i = 0; i < places; i++) {
      free[freeCount++] = places - 1 - i;
    }
    try {
      owned =
          OwnedWorker.open(
              Context.Options.of(Feature.TAG, Feature.WAKEUP).estimatedEndpoints(size),
              Map.of(),
              OwnedWorker.Deaths.FOUND_BY_UCX);
    } catch (IOException e) {
      throw new MissingTransportException("UCX", e.getMessage(), e);
    }
    worker = owned.worker();
    closing = new ClosingEndpoints(worker);
    failures = new FailureCheck(worker, (link, reason) -> ((UcxLink) link).end(reason));
    rankAddress = UcxRankAddress.of(Ucx.version(), owned.address());
  }

  static int longestFrame(int capacity) {
    return capacity / 4;
  }

  @Override
  public String rankAddress() {
    return rankAddress.write();
  }

  @Override
  public void rankAddresses(List<String> ofAll) {
    List<UcxRankAddress> read = new ArrayList<>();
    for (int i = 0; i < ofAll.size(); i++) {
      UcxRankAddress each = UcxRankAddress.read(ofAll.get(i));
      each.check(i, rankAddress);
      read.add(each);
    }
    rankAddresses = read;
    maxSleepNs =
        read.stream().anyMatch(each -> each.losesWakeUps(rankAddress))
            ? UNWOKEN_SLEEP_NS
            : Long.MAX_VALUE;
  }

  /** Longest sleep, nanoseconds. */
  long maxSleepNs() {
    return maxSleepNs;
  }

  @Override
  public void onNews(Runnable action) {
    // There are no threads here that could have news.
  }

  @Override
  public int longestPayload() {
    return longestFrame - Frames.HEADER;
  }

  @Override
  public String name() {
    return "ucxdev";
  }

  // For the links.

  void enter() {
    worker.enter();
  }

  void exit() {
    worker.exit();
  }

  SendsInFlight newSends(int capacity, int max) {
    return new SendsInFlight(worker, capacity, max);
  }

  /** The tag of this rank's frames. */
  long tag() {
    return FRAMES | rank;
  }

  /** Opens the endpoint to a rank; the worker has been entered. */
  Endpoint open(int peer) {
    Endpoint endpoint =
        worker.connect(Endpoint.Options.to(rankAddresses.get(peer).address()).name("rank " + peer));
    endpoint.attach(links[peer]);
    return endpoint;
  }

  MemorySegment slots() {
    return slots;
  }

  long at(int slot) {
    return (long) slot * stride;
  }

  void follow(int slot, int next) {
    following[slot] = next;
  }

  int following(int slot) {
    return following[slot];
  }

  /** A place was read. */
  void free(int slot) {
    free[freeCount++] = slot;
  }

  void owing(UcxLink link) {
    owing.add(link);
  }

  void ended(UcxLink link) {
    endedLinks.add(link);
  }

  // Under the engine's lock.

  @Override
  public FrameOutput connect(int peer) {
    return link(peer).output();
  }

  private UcxLink link(int peer) {
    if (links[peer] == null) {
      links[peer] = new UcxLink(peer, this, bufferBytes, creditBytes);
    }
    return links[peer];
  }

  @Override
  public int round(Peers peers) {
    int mayHaveLeft = 0;
    worker.enter();
    try {
      if (postedCount < MAX_POSTED && freeCount > 0) {
        post();
      }
      boolean progressed = worker.progress() != 0;
      if (progressed && sendsInFlight > 0) {
        mayHaveLeft = 1;
      }
      // Messages arrive in progress, which reports it; the looks in between do not rely on that.
      if (progressed || mayHaveWaited || (rounds & (LOOK_EVERY - 1)) == 0) {
        mayHaveWaited = false;
        take(peers);
      }
      rounds++;
      failures.round();
      if (closes) {
        closes = closing.poll();
      }
    } finally {
      worker.exit();
    }
    if (!owing.isEmpty()) {
      payCredit();
    }
    endedLinks.report(peers, this::abort);
    return mayHaveLeft;
  }

  /** Gives up the endpoint to a peer that is gone. */
  private void abort(UcxLink link) {
    worker.enter();
    try {
      link.abort(closing);
      closes = true;
    } finally {
      worker.exit();
    }
  }

  void sendBegan() {
    sendsInFlight++;
  }

  void sendEnded() {
    sendsInFlight--;
  }

  /** Posts receives for places that hold no frame. */
  private void post() {
    mayHaveWaited |= postedCount == 0;
    while (freeCount > 0 && postedCount < MAX_POSTED) {
      int slot = free[freeCount - 1];
      long request = worker.receiveTag(slots, at(slot), longestFrame, FRAMES, KIND);
      if (request < 0) {
        throw new UcxException((int) request, "ucp_tag_recv_nbx");
      }
      freeCount--;
      int i = postedFirst + postedCount++;
      i -= i < postedSlot.length ? 0 : postedSlot.length;
      postedSlot[i] = slot;
      postedRequest[i] = request;
    }
  }

  /** Hands over what is here whole, in the order of coming. */
  private void take(Peers peers) {
    while (postedCount > 0) {
      long request = postedRequest[postedFirst];
      int status = worker.status(request);
      if (status == Status.IN_PROGRESS) {
        return;
      }
      long bytes = worker.receivedBytes(request);
      int source = (int) worker.receivedTag(request);
      worker.release(request);
      int slot = postedSlot[postedFirst];
      postedFirst = postedFirst + 1 == postedSlot.length ? 0 : postedFirst + 1;
      postedCount--;
      if (source < 0 || source >= links.length || source == rank) {
        free(slot); // The sender is not a rank of this job.
      } else if (status == Status.OK) {
        UcxLink link = link(source);
        link.input().add(slot, bytes);
        if (!heard[source]) {
          heard[source] = true;
          peers.arrived(source, link.input());
        }
      } else {
        free(slot);
        failed(source, status);
      }
    }
  }

  private void failed(int source, int status) {
    if (status == Status.MESSAGE_TRUNCATED) {
      throw new IllegalStateException(
          "a frame of more than "
              + longestFrame
              + " bytes has come: talaria.mpj.buffer must be the same for all ranks, here it is "
              + bufferBytes);
    }
    link(source).end(FailureCheck.reason(status));
  }

  private void payCredit() {
    for (int i = owing.size() - 1; i >= 0; i--) {
      UcxLink link = owing.remove(i);
      link.owes = false;
      link.input().sendCredit();
    }
  }

  @Override
  public void broken(int peer, String what) {
    link(peer).end("it sent " + what);
  }

  @Override
  public void ended(int peer, String why) {
    link(peer).end(why);
  }

  @Override
  public boolean arm() {
    worker.enter();
    try {
      failures.now();
      return nothingHasCome() && worker.arm();
    } finally {
      worker.exit();
    }
  }

  private boolean nothingHasCome() {
    return postedCount > 0
        ? worker.status(postedRequest[postedFirst]) == Status.IN_PROGRESS
        : worker.probeTag(FRAMES, KIND) < 0;
  }

  @Override
  public void disarm() {}

  @Override
  public void sleep(long limitNs) {
    long limit = Math.min(limitNs, maxSleepNs);
    boolean ignored =
        Libc.awaitReadable(
            owned.eventDescriptor(), (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(limit)));
  }

  @Override
  public void wake() {
    worker.signal();
  }

  /**
   * Closes the endpoints in the ordinary way first, so that what was sent arrives. UCX 1.13 keeps
   * their mappings or sockets then, but only until the worker is closed, which is next; {@code
   * ClosedEndpointsTest} of the module {@code ucx} counts them.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    worker.enter();
    try {
      for (UcxLink link : links) {
        if (link != null) {
          closing.add(link.beginClose());
        }
      }
      boolean ignored = closing.await(CLOSE_NS); // what is left is closed with the worker
    } finally {
      worker.exit();
    }
    owned.close();
  }
}
