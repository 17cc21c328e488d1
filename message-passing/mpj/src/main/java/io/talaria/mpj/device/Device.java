// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Moves messages between the ranks of a job. One instance a rank.
 *
 * <p>Every method but {@link #sleep} is called under the engine's lock, by one thread at a time. No
 * method but {@link #sleep} blocks, and none calls back into the program. What takes time is made
 * of operations: a method starts one, {@link #progress} advances all, and one that is over has
 * {@link Operation#done} set, by {@link Operation#complete}.
 *
 * <p>Messages of one source, one context and matching tags are received in the order in which they
 * were sent, whatever protocol carries each.
 */
public abstract class Device implements AutoCloseable {
  /** Receives from whatever rank. */
  public static final int ANY_SOURCE = -2;

  /** Receives whatever tag, as any other negative number does. */
  public static final int ANY_TAG = -1;

  /** Communicators at a time; each has two contexts, an even one and the next. */
  public static final int COMMUNICATORS = 8192;

  /**
   * The offset from a communicator's contexts to those of its operations that run in the
   * background. Contexts are less than twice this.
   */
  public static final int BESIDE = 2 * COMMUNICATORS;

  /** For subclasses. */
  protected Device() {}

  /** Returns the number of this rank, from 0. */
  public abstract int rank();

  /** Returns the number of ranks in the job. */
  public abstract int size();

  /**
   * Sets what to run when a message has arrived for which no receive was posted, so that threads
   * that probe look again, and when a rank is gone. Called once, before any operation is started.
   *
   * @param action short; the device calls it under the engine's lock
   */
  public abstract void onArrival(Runnable action);

  /**
   * Sets what a thread of the device runs when something has happened that {@link #progress} should
   * see, although possibly no thread is waiting. A device without threads never runs it. Called
   * once, before any operation is started; threads of the device may run already.
   *
   * @param action takes the engine's lock and makes progress
   */
  public abstract void onNews(Runnable action);

  /**
   * Starts to send {@link Operation#payload} to rank {@link Operation#peer} with {@link
   * Operation#tag} in {@link Operation#context}. The payload may be changed once the operation is
   * done. With {@link Operation#synchronous} it is done only when a receive has taken the message.
   *
   * @param send a fresh operation, which the device holds until it is done
   */
  public abstract void isend(Operation send);

  /**
   * Starts to receive into {@link Operation#payload} a message from {@link Operation#peer} or
   * {@link #ANY_SOURCE} with {@link Operation#tag} or {@link #ANY_TAG} in {@link
   * Operation#context}. Takes the earliest message that has arrived, or waits behind the receives
   * started before.
   *
   * @param receive a fresh operation, which the device holds until it is done
   */
  public abstract void irecv(Operation receive);

  /**
   * Looks for a message that has arrived and that no receive has taken.
   *
   * @param source a rank or {@link #ANY_SOURCE}
   * @param tag a tag or {@link #ANY_TAG}
   * @param context where
   * @param out takes source, tag, bytes and base type, if there is one
   * @return whether there is one; it stays where it is
   */
  public abstract boolean iprobe(int source, int tag, int context, Operation out);

  /**
   * Looks as {@link #iprobe} does, and takes the message out of matching: only {@link #imrecv} of
   * the result receives it.
   *
   * @param source a rank or {@link #ANY_SOURCE}
   * @param tag a tag or {@link #ANY_TAG}
   * @param context where
   * @param out takes source, tag, bytes and base type, if there is one
   * @return the message, or null
   */
  public abstract Matched improbe(int source, int tag, int context, Operation out);

  /**
   * Starts to receive a message that {@link #improbe} took.
   *
   * @param message what that returned, once
   * @param receive a fresh operation with a payload
   */
  public abstract void imrecv(Matched message, Operation receive);

  /**
   * Cancels an operation if that is still possible. A receive is over at once or unaffected; a send
   * may take until the peer has answered. A cancelled operation completes with {@link
   * Operation#CANCELLED}.
   *
   * @param operation one that was started here
   */
  public abstract void cancel(Operation operation);

  /**
   * Whether receives wait in a context for their messages, or senders for what becomes of theirs.
   *
   * @param context where
   */
  public abstract boolean isAwaited(int context);

  /**
   * Forgets a context: drops messages that have arrived in it and were not received, and receives
   * that are posted there, which are never over then.
   *
   * @param context one that no rank uses any more
   */
  public abstract void release(int context);

  /**
   * Advances what is under way.
   *
   * @param budget how many frames to handle at most, roughly
   * @return how much happened; 0 if nothing
   */
  public abstract int progress(int budget);

  /** Whether everything that was to leave this rank has left it. */
  public abstract boolean flushed();

  /**
   * Announces that this rank is about to sleep, and looks once more.
   *
   * @return false if there is something to do: do not sleep
   */
  public abstract boolean arm();

  /**
   * Sleeps until a peer sends a wake-up, or for the time given. Called after {@link #arm} returned
   * true, by one thread, without the engine's lock.
   *
   * @param limitNs nanoseconds
   */
  public abstract void sleep(long limitNs);

  /** Takes the announcement back. Called after every {@link #arm}, whatever it said. */
  public abstract void disarm();

  /** Ends another thread's {@link #sleep}; usable by any thread, without the lock. */
  public abstract void wake();

  /**
   * Writes where others can see it what this rank sleeps for.
   *
   * @param call one of {@link BlockingCall}
   * @param peer a rank, or {@link #ANY_SOURCE}
   * @param tag a tag
   * @param context a context
   */
  public abstract void describeWait(int call, int peer, int tag, int context);

  // Ranks that end while others continue.

  /**
   * The process of a rank has ended: operations with it fail, now or once its connection is found
   * to have ended, too. What it has sent before still arrives, unless its connection drops it.
   *
   * @param peer its rank
   * @param why for the program
   */
  public abstract void ended(int peer, String why);

  /**
   * Whether operations with a rank fail.
   *
   * @param peer its rank
   */
  public abstract boolean isGone(int peer);

  /**
   * Sets which ranks a receive from any rank waits for in a context: it fails if one of them is
   * gone. All ranks of the job if this was not called since the context was released.
   *
   * @param context where
   * @param ranks some of the job's
   */
  public abstract void members(int context, int[] ranks);

  /**
   * Fails what waits in a context for another rank to do its part, and what is started there later.
   *
   * @param context where
   * @param why the exception that operations get
   */
  public abstract void revoke(int context, CommunicationException why);

  // Memory that ranks share. These methods need no lock.

  /**
   * Whether memory of {@link #createShared} can be mapped by a rank.
   *
   * @param peer a rank
   * @return true for this rank
   */
  public boolean sharesMemoryWith(int peer) {
    return peer == rank();
  }

  /**
   * Makes memory that other ranks can map, filled with zeros, at a multiple of 64.
   *
   * @param name unique among what is shared at the time; part of a file's name
   * @param bytes how much
   * @param arena closes this rank's mapping, if the memory is mapped
   * @return the memory
   * @throws IOException if there is no room
   */
  public MemorySegment createShared(String name, long bytes, Arena arena) throws IOException {
    throw new IOException("ranks of " + name() + " share no memory");
  }

  /**
   * Maps what another rank has made.
   *
   * @param name see {@link #createShared}
   * @param arena closes this rank's mapping
   * @return the memory
   * @throws IOException if it cannot be mapped
   */
  public MemorySegment openShared(String name, Arena arena) throws IOException {
    throw new IOException("ranks of " + name() + " share no memory");
  }

  /**
   * Removes the name; the memory stays as long as it is mapped.
   *
   * @param name see {@link #createShared}
   */
  public void removeShared(String name) {}

  /** The name of the device, to be displayed. */
  public abstract String name();

  /** Gives everything back. Nothing is under way any more. */
  @Override
  public abstract void close();
}
