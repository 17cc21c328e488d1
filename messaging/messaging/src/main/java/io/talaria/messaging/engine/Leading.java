// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.RingPair;
import io.talaria.nio.spin.Spinner;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Who receives from the control ring of a connection: the poller, or a leader. That is a thread
 * that waits for a response and receives it itself, or one that has sent much and looks whether it
 * must hold. One lock decides.
 */
public final class Leading {
  private static final int LOOKS_WHILE_ANOTHER_LEADS = 200;

  /** Reading the clock takes longer than looking into memory. */
  private static final int LOOKS_BETWEEN_CLOCKS = 4;

  private final Connection connection;
  private final ConnectionOwner node;
  private final AtomicBoolean lock = new AtomicBoolean();

  /** By the leader. */
  private final Spinner spinner;

  /** Whether the leader has received what only the poller can use. By the leader. */
  private boolean dataCame;

  /** When the last look began. By the leader. */
  private long lookedFromNs;

  /**
   * The slot of a request whose thread leads and takes the response itself, or null. By the leader.
   */
  private ResponseSlot own;

  Leading(Connection connection) {
    this.connection = connection;
    node = connection.node;
    spinner = new Spinner(node.leaderSpinning());
  }

  /** Takes the receiver of the control ring if it is free; who closes the connection keeps it. */
  public boolean tryLock() {
    return lock.compareAndSet(false, true);
  }

  /** Frees the receiver, before anything is read that another thread sets. */
  void unlock() {
    lock.set(false);
  }

  /** {@link #unlock} without a fence, if nothing is looked at after it that another thread sets. */
  void unlockSoon() {
    lock.setRelease(false);
  }

  /** Whether the holder of the receiver is the thread that waits for this slot. Holder. */
  boolean leadsFor(ResponseSlot slot) {
    return own == slot;
  }

  boolean locked() {
    return lock.get();
  }

  /** Looks for a response for a while, at most this long; whether it is there. */
  public boolean lead(ResponseSlot slot, int generation, long maxNs) {
    if (!start()) {
      for (int i = 0; i < LOOKS_WHILE_ANOTHER_LEADS; i++) {
        if (slot.done(generation)) {
          return true;
        }
        Thread.onSpinWait();
      }
      return false;
    }
    try {
      return look(slot, generation, maxNs);
    } finally {
      stop();
    }
  }

  /**
   * Looks for the response to a request that has no future, so that nobody else takes it or must be
   * told of it. Leader.
   *
   * @param maxNs the timeout, which may be shorter than a spin
   * @return when this began, as of {@link System#nanoTime}
   */
  public long lookForOwn(ResponseSlot slot, int generation, long maxNs) {
    own = slot;
    try {
      look(slot, generation, maxNs);
      return lookedFromNs;
    } finally {
      own = null;
    }
  }

  /** Before a request is published: its response needs no wake-up if this thread leads then. */
  void startIfWanted(ThreadContext context) {
    if (context.wantsToLead) {
      context.wantsToLead = false;
      context.leads = start();
    }
  }

  /** Becomes the leader if the receiver is free; then {@link #stop} must follow. */
  boolean start() {
    if (!tryLock()) {
      return false;
    }
    dataCame = false;
    try {
      connection.link().disarm(RingPair.CONTROL);
      return true;
    } catch (IllegalStateException e) {
      stop();
      if (!connection.dead()) {
        throw e;
      }
      return false;
    }
  }

  /** Looks for a response while it is worth it. Leader. */
  private boolean look(ResponseSlot slot, int generation, long maxNs) {
    boolean found = false;
    Link link = connection.link();
    try {
      link.push();
      boolean spins = spinner.start();
      lookedFromNs = spins ? spinner.beganNs() : System.nanoTime();
      if (spins) {
        try {
          do {
            found = lookSomeTimes(link, slot, generation);
          } while (!found && !connection.ended() && spinner.goOn() && spinner.spunNs() < maxNs);
        } finally {
          spinner.stop(found);
        }
      }
    } catch (RingBrokenException e) {
      connection.broken(e);
    } catch (IllegalStateException e) {
      if (!connection.dead()) {
        throw e;
      }
    }
    return found;
  }

  /**
   * Receives once what is there, unless another thread does. The end of the connection is not told:
   * the caller has sent a message, and must not send it again. Any thread.
   */
  void lookOnce() {
    Link link = connection.link();
    try {
      if (!link.mayHave(RingPair.CONTROL) || !start()) {
        return;
      }
      try {
        connection.receiver().drainControl();
      } finally {
        stop();
      }
    } catch (RingBrokenException e) {
      connection.broken(e);
    } catch (IllegalStateException e) {
      if (!connection.dead()) {
        throw e;
      }
    }
  }

  private boolean lookSomeTimes(Link link, ResponseSlot slot, int generation) {
    RecordReceiver receiver = connection.receiver();
    for (int i = 0; i < LOOKS_BETWEEN_CLOCKS; i++) {
      dataCame |= link.bring();
      receiver.drainControl();
      if (slot.done(generation)) {
        return true;
      }
    }
    return false;
  }

  /** Stops leading. */
  public void stop() {
    boolean came = dataCame;
    unlock();
    leave(came);
  }

  /**
   * Announces the poller's sleep for it, if it has gone to sleep while this thread led.
   *
   * <p>Invariant: while the poller sleeps and no thread leads, the control ring is armed.
   * Announcing takes the receiver for a moment. If the poller wakes in that moment, it reads the
   * doorbell without being allowed to look at the ring, and the sender rings once for each
   * announcement; so this repeats until the poller has slept through the whole moment, or is awake
   * after it.
   */
  private void leave(boolean came) {
    boolean look = came;
    int before;
    int sleep = node.poller().sleepNumber();
    do {
      before = sleep;
      if (!Poller.sleeps(sleep) || connection.dead()) {
        return;
      }
      if (!tryLock()) {
        break; // by the poller, which looks before it sleeps, or by another who leaves later
      }
      try {
        look |= announce();
      } finally {
        unlock();
      }
      sleep = node.poller().sleepNumber();
    } while (sleep != before);
    if (look) {
      node.poller().wake();
    }
  }

  /** Arms the control ring; whether something is there. Holder of the receiver. */
  private boolean announce() {
    Link link = connection.link();
    try {
      link.arm(RingPair.CONTROL);
      return link.in(RingPair.CONTROL).peek() != 0 || link.goesOn(RingPair.CONTROL);
    } catch (RingBrokenException e) {
      return true;
    } catch (IllegalStateException e) {
      if (!connection.dead()) {
        throw e;
      }
      return false;
    }
  }
}
