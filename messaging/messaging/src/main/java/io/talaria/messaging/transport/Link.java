// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.ring.RingReceiver;
import java.nio.channels.SocketChannel;

/**
 * The memory and the channels of one connection. Any thread may produce records into {@link #out};
 * each other method says which threads may call it.
 */
public abstract class Link {
  /** The transport's name. */
  public abstract String transport();

  /** Why the connection uses this transport; a text for people. */
  public abstract String reason();

  /** The ring into which records of a priority are written. */
  public abstract RingProducer out(int priority);

  /** The maximum capacity of the outgoing ring of a priority, in bytes. */
  public int maxCapacity(int priority) {
    return out(priority).capacity();
  }

  /** Whether the outgoing ring of a priority can ever be larger than it is. Any thread. */
  public boolean canGrow(int priority) {
    return false;
  }

  /** Whether the outgoing ring of a priority can be made larger now. Any thread. */
  public boolean mayGrow(int priority) {
    return false;
  }

  /** Whether another ring continues, or will continue, a sealed outgoing ring. Any thread. */
  public boolean grows(int priority, RingProducer sealed) {
    return false;
  }

  /**
   * Continues the outgoing ring of a priority in a larger one; false if that is not possible.
   * Conductor.
   */
  public boolean grow(int priority) {
    return false;
  }

  /** Refuses further records of a priority. Any thread. */
  public void seal(int priority) {
    out(priority).seal();
  }

  /**
   * Whether the incoming ring of a priority is empty and another ring continues it. The thread that
   * reads this priority.
   */
  public boolean goesOn(int priority) {
    return false;
  }

  /**
   * If another ring continues the incoming one, which is empty, moves {@link #in} to it; otherwise
   * returns false. The thread that reads this priority.
   */
  public boolean moveOn(int priority) {
    return false;
  }

  /** The source of incoming records of a priority. */
  public abstract RingReceiver in(int priority);

  /**
   * Whether there may be incoming records of a priority, or a ring that continues: a hint for a
   * thread that reads this priority only if so. Later calls return true if an earlier one did not
   * see what had come already. Any thread.
   */
  public boolean mayHave(int priority) {
    return true;
  }

  /** The session's channel, or null for the link of a node to itself. */
  public abstract SocketChannel session();

  /** Wakes the other end. Call when {@link RingProducer#mustWake} has returned true. Any thread. */
  public abstract void wakePeer();

  /**
   * Like {@link #wakePeer}, for a thread that waits for the response before it sends again: what it
   * has sent need not gather. Any thread.
   */
  public void wakePeerAtOnce() {
    wakePeer();
  }

  /**
   * Whether records are copied into mirrors. Then room is announced by sending credit, which should
   * be rare.
   */
  public boolean copies() {
    return false;
  }

  /** Whether records arrive on the session, which the holder of the ring receiver lock reads. */
  public boolean readsSession() {
    return false;
  }

  /**
   * Sends the records that were committed, if this transport sends. Any thread.
   *
   * @return whether anything was done
   */
  public abstract boolean push();

  /**
   * Like {@link #push}, for the poller in each of its turns; does nothing if {@link
   * NetworkTransport#send} sends for all connections.
   */
  public boolean pushInTurn() {
    return session() != null && !blocked() && push();
  }

  /** Whether {@link #push} waits until the session accepts more bytes. */
  public boolean blocked() {
    return false;
  }

  /** Call when the session accepts more bytes. */
  public void unblock() {}

  /**
   * Reads what has arrived on the session: records, under the connection's ring receiver lock; or
   * doorbells, by the poller only.
   *
   * @return whether anything has arrived
   */
  public abstract boolean pull();

  /**
   * Looks for records whose arrival no word in memory shows. For a thread that holds the ring
   * receiver lock and waits for a response.
   *
   * @return whether anything has arrived that the poller must look at afterwards
   */
  public boolean bring() {
    return readsSession() && pull();
  }

  /**
   * Wakes threads of the other end that wait for room. Call after {@link RingReceiver#publish} of a
   * priority. Poller.
   */
  public abstract void published(int priority);

  /**
   * Publishes that the reader of a priority is about to sleep. The thread that reads this priority.
   */
  public abstract void arm(int priority);

  /** Publishes that the reader of a priority is awake. The thread that reads this priority. */
  public abstract void disarm(int priority);

  /**
   * Publishes that the thread that sends is about to sleep; false if there is something to send.
   * Poller.
   */
  public boolean armOutput() {
    return true;
  }

  /** Publishes that the thread that sends is awake. Poller. */
  public void disarmOutput() {}

  /**
   * Declares that no more records will be written into the outgoing rings. Once all were sent, the
   * other end is told, unless the transport tells it without this. Any thread that does not hold
   * the ring receiver lock.
   */
  public void finishOutput() {}

  /** Whether the other end has ended and nothing more can arrive. Poller. */
  public abstract boolean over();

  /** Whether the other end cannot even report any more what it has delivered. Poller. */
  public abstract boolean severed();

  /** Reads nothing more from the session, as if the other end had ended. Poller. */
  public void sever() {}

  /**
   * Whether what is still in the outgoing rings can never reach the other end. Call when {@link
   * #over} is true. Poller.
   */
  public boolean outputLost() {
    return severed();
  }

  /**
   * Describes what else the link's wake-ups depend on; for people. Reads the words without
   * ordering, so they may be inconsistent.
   */
  public String state() {
    return "";
  }

  /** Ends the session. What is in memory stays readable until {@link #unmap}. Conductor. */
  public abstract void close();

  /**
   * Releases the memory of the rings, after {@link #close}; an access afterwards throws. Call when
   * no thread can be in an access: the JVM not only makes that access throw, it also sets the
   * interrupt status of its thread. Conductor.
   */
  public void unmap() {
    // Most are memory of the process, which the garbage collector frees.
  }
}
