// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.RingProducer;
import java.nio.channels.SocketChannel;

/**
 * One connection's memory and wires. Producers of {@link #out} are any threads; all else says who.
 */
public abstract class Track {
  /** Its transport's name. */
  public abstract String transport();

  /** Why it is this transport; for people. */
  public abstract String reason();

  /** Where records go. */
  public abstract RingProducer out(int priority);

  /** The most bytes that the ring out of a priority may have. */
  public int maxCapacity(int priority) {
    return out(priority).capacity();
  }

  /** Whether the ring out of a priority could ever be larger. Any thread. */
  public boolean canGrow(int priority) {
    return false;
  }

  /** Whether it could be now. Any thread. */
  public boolean mayGrow(int priority) {
    return false;
  }

  /** Whether a ring out that takes no more is followed by another one. Any thread. */
  public boolean grows(int priority, RingProducer sealed) {
    return false;
  }

  /** Has a larger ring out follow the one there is; false if that is not to be. Registrar. */
  public boolean grow(int priority) {
    return false;
  }

  /** Nothing more goes out of a priority. Any thread. */
  public void seal(int priority) {
    out(priority).seal();
  }

  /**
   * Whether all was taken out of the ring in of a priority, and another one follows. Its reader.
   */
  public boolean goesOn(int priority) {
    return false;
  }

  /** If so, goes on there: {@link #in} is another. Its reader. */
  public boolean moveOn(int priority) {
    return false;
  }

  /** Where records come from. */
  public abstract Inlet in(int priority);

  /** The session, or null for the own node. */
  public abstract SocketChannel session();

  /** After {@link RingProducer#mustWake} said so. Any thread. */
  public abstract void wakePeer();

  /** Whether records are copied into mirrors, so that room is told by sending, and seldom. */
  public boolean copies() {
    return false;
  }

  /** Whether records come by the session, which whoever has the inlet lock reads. */
  public boolean readsSession() {
    return false;
  }

  /**
   * Sends what was marked, if this transport sends. Any thread.
   *
   * @return whether anything was done
   */
  public abstract boolean push();

  /** The same, by the poller in its turn, if nobody else does it for all connections. */
  public boolean pushInTurn() {
    return session() != null && !blocked() && push();
  }

  /** Whether {@link #push} waits for the session to take more. */
  public boolean blocked() {
    return false;
  }

  /** The session takes more again. */
  public void unblock() {}

  /**
   * Takes from the session what has come: records, under the connection's inlet lock; or doorbells,
   * the poller alone.
   *
   * @return whether anything came
   */
  public abstract boolean pull();

  /**
   * Looks for records that no word in memory announces; by whoever has the inlet lock, and waits
   * for a response.
   *
   * @return whether anything came that the poller has to look at afterwards
   */
  public boolean bring() {
    return readsSession() && pull();
  }

  /** After {@link Inlet#publish} of a priority: tells whoever waits at the other end. Poller. */
  public abstract void published(int priority);

  /** Says that whoever reads a priority is about to sleep. Its reader. */
  public abstract void arm(int priority);

  /** Says that it is awake. Its reader. */
  public abstract void disarm(int priority);

  /** Says that whoever sends is about to sleep; false if there is something to send. Poller. */
  public boolean armOutput() {
    return true;
  }

  /** Says that it is awake. Poller. */
  public void disarmOutput() {}

  /**
   * Nothing more will be put into the rings: when all there is was sent, tells the other end, if
   * the transport does not by itself. Any thread, not the one that holds the inlet lock.
   */
  public void finishOutput() {}

  /** Whether the other end has ended, and nothing more can come. Poller. */
  public abstract boolean over();

  /** Whether the other end cannot even say any more what it has delivered. Poller. */
  public abstract boolean severed();

  /** What else its wake-ups depend on; for people, and without any order between the words. */
  public String state() {
    return "";
  }

  /** Gives all back; nobody is inside any more. Registrar. */
  public abstract void close();
}
