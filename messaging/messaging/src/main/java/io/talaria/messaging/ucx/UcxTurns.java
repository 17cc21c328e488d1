// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.messaging.transport.DescriptorWatcher;
import io.talaria.messaging.transport.RingPair;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Worker;
import io.talaria.ucx.transport.ClosingEndpoints;
import io.talaria.ucx.transport.FailureCheck;
import io.talaria.ucx.transport.SendsInFlight;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The turns on a node's UCX worker: which thread holds the worker, what the holder does, and how
 * the poller sleeps.
 *
 * <p><b>Turns.</b> One thread at a time holds the worker, only as long as it takes to make
 * progress, to receive what has arrived and to send what may be sent: the poller in each of its
 * turns, a thread that waits for its response, or a sender. If the worker is busy, a thread sets
 * {@link #again}; the holder checks {@link #again} after releasing the worker.
 *
 * <p><b>Sleeping.</b> UCX's descriptor becomes readable for events after it was armed, and stays
 * readable until it is armed again.
 *
 * <ol>
 *   <li>Only the poller arms, in {@link #arm}: as the last step before it sleeps, while it holds
 *       the worker, and after a round of progress that has brought nothing. So earlier events were
 *       received, and later ones are signalled.
 *   <li>UCX refuses to arm while something has arrived, or while it cannot deliver what it has.
 *       Then there is another round. After {@link #ARM_TRIES} of them the poller sleeps unarmed,
 *       and polls each millisecond until UCX agrees.
 *   <li>After arming, the poller sets the flag of the {@link DescriptorWatcher}, whose thread
 *       sleeps on the descriptor while the flag is set, and clears it before it wakes the poller.
 *       The poller sets it again before its next sleep. So each signal wakes the poller, and only
 *       once.
 *   <li>Threads that wait for responses make progress while the poller sleeps, and may receive what
 *       was signalled. Then the poller wakes up for nothing. What they receive for other threads
 *       they leave in the mirrors, and wake the poller ({@link #wake}) after releasing the worker.
 *   <li>Senders make no progress. If UCX does not complete a send at once, the sender wakes the
 *       poller, which polls each millisecond while any send or close is under way ({@link
 *       #pollsEachMs}), because no event signals its completion.
 *   <li>UCX needs some more rounds to release an endpoint that was closed by force, and no event
 *       signals that either: {@link ClosingEndpoints}.
 *   <li>In UCX's shared memory a sender clears the mark of the sleeping receiver, writes, and
 *       signals last. If it is killed or stopped before it signals, later senders see no mark. So
 *       the poller polls twice a second while there are connections.
 * </ol>
 */
final class UcxTurns {
  /** How often the poller polls for completions, which no event signals. */
  private static final int POLL_MS = 1;

  /**
   * How often the poller polls while there are connections, in case a sender was killed before it
   * signalled.
   */
  private static final int LOOK_MS = 500;

  /**
   * How often UCX is asked to arm before the poller sleeps unarmed. UCX refuses while it cannot
   * deliver what it has, which may last as long as the receiving process is stopped, or for ever.
   */
  private static final int ARM_TRIES = 16;

  private static final int MAX_READY = 64;
  private static final int MAX_ROUNDS = 32;
  private static final int MAX_LOOKS = 1 << 10;
  private static final int SPINS = 1 << 10;
  private static final long CLOSE_NS = 200_000_000;

  private final Worker worker;
  private final DescriptorWatcher watcher;
  private Runnable wakePoller = () -> {};
  private int lookMs;

  // Only for the holder of the worker.
  private final List<UcxChannel> channels = new ArrayList<>();
  private final ClosingEndpoints closing;
  private final FailureCheck failures;
  private final Endpoint[] ready = new Endpoint[MAX_READY];
  private boolean came;
  private boolean wake;
  private UcxLink leader;

  /** Replaced by the holder of the worker. */
  private volatile UcxLink[] links = {};

  /** Sends or closings are under way, whose completion no event signals. */
  private volatile boolean pollsEachMs;

  /** UCX has refused to arm. Only for the poller. */
  private boolean refuses;

  /** A link needs a push. A thread sets the link's own flag first, then this one. */
  private volatile boolean again;

  /** The poller waits for the worker. */
  private volatile boolean pollerWaits;

  private volatile boolean closed;

  /**
   * Creates the turns; there are none yet.
   *
   * @param worker which the caller closes after {@link #close}
   * @param watcher which the caller starts and ends
   */
  UcxTurns(Worker worker, DescriptorWatcher watcher) {
    this.worker = worker;
    this.watcher = watcher;
    closing = new ClosingEndpoints(worker);
    failures = new FailureCheck(worker, (channel, reason) -> ((UcxChannel) channel).end(reason));
  }

  /**
   * Sets what wakes the poller, before there are connections.
   *
   * @param looks whether the poller also looks from time to time without a wake-up
   */
  void begin(Runnable wake, boolean looks) {
    wakePoller = wake;
    lookMs = looks ? LOOK_MS : 0;
  }

  /** Becomes the holder of the worker; false if another thread is. Any thread. */
  boolean enter() {
    try {
      return !closed && worker.tryEnter();
    } catch (IllegalStateException e) {
      return false; // closed meanwhile
    }
  }

  /** Releases the worker, and does what other threads have asked for meanwhile. */
  void exit() {
    leave();
    VarHandle.fullFence();
    if (again) {
      serve();
    }
  }

  private void leave() {
    boolean pollerIsMeant = wake;
    wake = false;
    worker.exit();
    if (pollerIsMeant) {
      wakePoller.run();
    }
  }

  /** Becomes the holder of the worker, and waits for it, which takes moments; false if closed. */
  boolean enterWaiting() {
    pollerWaits = true; // keeps threads that wait for responses away
    try {
      for (int i = 0; i < SPINS; i++) {
        if (enter()) {
          return true;
        }
        Thread.onSpinWait();
      }
      if (!closed) {
        worker.enter();
        return true;
      }
    } catch (IllegalStateException e) {
      // Closed meanwhile.
    } finally {
      pollerWaits = false;
    }
    return false;
  }

  /** Like {@link #enterWaiting}, for the conductor. */
  void enterOrThrow() throws IOException {
    if (!enterWaiting()) {
      throw new IOException("the node is closed");
    }
  }

  /**
   * Makes progress and receives what has arrived; whether anything has, or sends were completed.
   */
  private boolean work() {
    came = false;
    worker.progress();
    int count;
    do {
      count = worker.pollStreams(ready);
      for (int i = 0; i < count; i++) {
        UcxChannel channel = (UcxChannel) ready[i].attachment();
        ready[i] = null;
        channel.receive();
      }
    } while (count == MAX_READY);
    if (pollsEachMs) {
      reap();
    }
    failures.round();
    return came;
  }

  private void reap() {
    boolean still = false;
    for (int i = 0; i < channels.size(); i++) {
      UcxChannel channel = channels.get(i);
      if (channel.inFlight()) {
        came |= channel.reap();
        still |= channel.inFlight();
      }
    }
    pollsEachMs = closing.poll() || still;
  }

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#bring}. Poller. */
  boolean bring() {
    if (!enter()) {
      return false; // the holder receives it
    }
    try {
      return work();
    } finally {
      wake = false; // the poller is this thread
      exit();
    }
  }

  /** Like {@link #bring()}, but waits for the worker. Poller. */
  boolean bringEntering() {
    if (!enterWaiting()) {
      return false;
    }
    try {
      return work();
    } finally {
      wake = false;
      exit();
    }
  }

  /** Like {@link #bring()}, for a thread that waits for a response on a connection. */
  void bring(UcxLink by) {
    if (pollerWaits || !enter()) {
      return;
    }
    leader = by;
    try {
      work();
    } finally {
      leader = null;
      exit();
    }
  }

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#send}. Poller. */
  boolean send() {
    UcxLink[] all = links;
    if (all.length == 0) {
      return false;
    }
    for (UcxLink each : all) {
      each.again = true;
    }
    again = true;
    return serve();
  }

  /** Sends a connection's records, on this thread or on the holder of the worker. Any thread. */
  boolean push(UcxLink link) {
    link.again = true;
    again = true;
    return serve();
  }

  private boolean serve() {
    boolean done = false;
    for (int i = 0; again && enter(); i++) {
      try {
        again = false;
        for (UcxLink each : links) {
          if (each.again) {
            each.again = false;
            done |= each.pushEntered();
          }
        }
      } finally {
        leave();
      }
      VarHandle.fullFence();
      if (i == MAX_ROUNDS) {
        wakePoller.run(); // the poller continues, so that this thread returns
        break;
      }
    }
    return done;
  }

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#arm}. Poller. */
  boolean arm() {
    if (!enterWaiting()) {
      return true; // closed
    }
    try {
      failures.now();
      refuses = false;
      for (int i = 0; !tryArm(); i++) {
        if (wake || came || again) {
          wake = false;
          return false;
        }
        if (i == ARM_TRIES) {
          refuses = true;
          return true;
        }
      }
      watcher.armed();
    } finally {
      exit();
    }
    watcher.resume();
    return true;
  }

  /** Receives what has arrived, and arms if nothing has. */
  private boolean tryArm() {
    return !work() && !wake && !again && worker.arm();
  }

  /** Like {@link io.talaria.messaging.transport.NetworkTransport#maxSleepMs}. Poller. */
  int maxSleepMs() {
    return pollsEachMs || refuses ? POLL_MS : links.length == 0 ? 0 : lookMs;
  }

  // ---- for channels and links that hold the worker

  /** A connection has something to send. */
  void wants(UcxLink link) {
    link.again = true;
    again = true;
    came = true;
  }

  /** Records of a priority have arrived for a connection. */
  void brought(UcxLink link, int priority) {
    came = true;
    if (link != leader || priority == RingPair.DATA) {
      wake = true;
    }
  }

  /** UCX has not completed a send: makes the poller check for its completion. */
  void posted() {
    if (!pollsEachMs) {
      pollsEachMs = true;
      wake = true;
    }
  }

  SendsInFlight newSends(int max) {
    return new SendsInFlight(worker, max, max);
  }

  /** Closes the endpoint of a channel. */
  void close(UcxChannel channel, Endpoint endpoint) {
    channels.remove(channel);
    closing.force(endpoint, channel::stillInFlight);
    posted();
  }

  /** Makes an endpoint; its channel must be {@link #add added}. */
  Endpoint connect(Endpoint.Options options) {
    return worker.connect(options);
  }

  /** Closes an endpoint that has no channel. */
  void closeUnpaired(Endpoint endpoint) {
    closing.force(endpoint, () -> false);
    posted();
  }

  void add(UcxChannel channel) {
    channels.add(channel);
  }

  void add(UcxLink link) {
    // Filled before it is published: a poller may read it meanwhile.
    UcxLink[] longer = Arrays.copyOf(links, links.length + 1);
    longer[longer.length - 1] = link;
    links = longer;
  }

  void remove(UcxLink link) {
    links = Arrays.stream(links).filter(each -> each != link).toArray(UcxLink[]::new);
  }

  /** For people. Reads the fields without ordering, so they may be inconsistent. */
  @Override
  public String toString() {
    return "worker: "
        + watcher
        + (closed ? ", closed" : "")
        + (pollsEachMs ? ", polls each ms" : "")
        + (refuses ? ", refuses" : "")
        + (again ? ", again" : "")
        + (pollerWaits ? ", the poller waits" : "")
        + ", "
        + links.length
        + " connections";
  }

  // ---- the end

  /** Ends all channels; from now on no thread becomes the holder. Conductor. */
  void close() {
    worker.enter();
    try {
      sayGone();
    } finally {
      worker.exit();
    }
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }

  /** Tells the other processes to close their endpoints, and gives sends a moment to complete. */
  private void sayGone() {
    for (UcxChannel channel : List.copyOf(channels)) {
      if (channel.hasRoom()) {
        channel.sendGone();
      }
    }
    long until = System.nanoTime() + CLOSE_NS;
    do {
      pollsEachMs = true;
      for (int i = 0; i < MAX_LOOKS && pollsEachMs; i++) {
        work();
      }
    } while (pollsEachMs && System.nanoTime() - until < 0);
  }
}
