// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import java.nio.ByteBuffer;

/**
 * The fast byte stream of one connection: application bytes only, both directions.
 *
 * <p><b>Threads.</b> At most one thread reads and at most one writes at a time; the channel's read
 * and write locks see to it. {@link #readiness}, {@link #watch} and {@link #peerSwitchAt} may be
 * called by the selecting thread beside them. Nothing here blocks, and nothing on the data path
 * allocates.
 *
 * <p><b>Life.</b> Both sides first agree that the stream is used at all: each side calls {@link
 * #acceptInput} when its reader knows that doorbells may stand between the bytes of the control
 * connection; once both have, the stream is {@link #established} for good. Until then either side
 * may {@link #withdraw}, and then both stay on TCP. Once established, each direction switches
 * alone: the writer calls {@link #switchOut} with the number of bytes it has put on TCP, the reader
 * takes exactly {@link #peerSwitchAt} bytes from TCP and then reads here. {@link #release} is the
 * last call; no thread may be inside any method then or later.
 */
public interface TransportStream {

  /** {@link #read}: the peer finished its output, and everything has been read. */
  int END = -1;

  /**
   * {@link #read}: the connection was reset, and everything that had arrived has been read. {@link
   * #write}: the connection was reset, and no read has said so; said once.
   */
  int RESET = -2;

  /** {@link #write}: the peer is gone; the bytes can reach no reader. */
  int BROKEN = -3;

  /**
   * Bit of {@link #readiness}, {@link #watch} and {@link #await}: bytes, end or failure to read.
   */
  int READ = 1;

  /** Bit of {@link #readiness}, {@link #watch} and {@link #await}: room or failure to write. */
  int WRITE = 4;

  /** Instead of the number of a doorbell: the peer rings the control connection. */
  int NO_DOORBELL = -1;

  /** The transport it is of. */
  TransportProvider transport();

  /**
   * Whether news wakes the waiting threads of this process through {@link StreamOwner#wake}, rather
   * than a doorbell of the peer's on the control connection.
   */
  default boolean wakesByItself() {
    return false;
  }

  /** Binds the stream to its channel. Called once, before any other method. */
  void owner(StreamOwner owner, Object attachment);

  /** What was bound by {@link #owner}. */
  Object attachment();

  /**
   * Tells the peer that this side's reader is ready for the switch; its owner hears of it by {@link
   * StreamOwner#woken} if that establishes the stream. Idempotent.
   */
  void acceptInput();

  /** Whether both sides have accepted; never becomes false again. */
  boolean established();

  /**
   * Gives the stream up if it is not yet established.
   *
   * @return true if both sides stay on TCP, false if the stream is established and must be used
   */
  boolean withdraw();

  /** Whether either side has withdrawn. */
  boolean withdrawn();

  /**
   * How much the program wants to be buffered, as it has said by socket options; to be told before
   * the stream is used.
   *
   * @param sendBytes bytes of its own output, or 0 if it has not said
   * @param receiveBytes bytes of its input, or 0 if it has not said
   */
  default void buffers(int sendBytes, int receiveBytes) {}

  /** Publishes that this side's output continues here after {@code tcpBytes} bytes on TCP. */
  void switchOut(long tcpBytes);

  /**
   * Where the peer's output continues here.
   *
   * @return number of bytes the peer has put on TCP, or -1 while it has not switched
   */
  long peerSwitchAt();

  /** Tells the peer that the bytes it put on TCP have all been taken. */
  void inputSwitched();

  /** Whether the peer has taken all bytes that this side put on TCP. */
  boolean peerInputSwitched();

  /** Whether the peer takes nothing of this side's any more, neither from TCP nor from here. */
  boolean peerInputClosed();

  /** Publishes how many bytes this side has taken from TCP so far; until its input has switched. */
  default void inputTaken(long tcpBytes) {}

  /** How many bytes the peer says it has taken from TCP; 0 if it has not said. */
  default long peerInputTaken() {
    return 0;
  }

  /**
   * Reads into the destination's remaining space.
   *
   * @return bytes read, 0 if there are none now, {@link #END} or {@link #RESET}
   */
  int read(ByteBuffer dst);

  /**
   * Writes from the source's remaining bytes, which may be reused at return.
   *
   * @return bytes accepted, possibly fewer than remain and 0 without space, or {@link #BROKEN}
   */
  int write(ByteBuffer src);

  /**
   * Gathers bytes of several sources, published together.
   *
   * @return as {@link #write(ByteBuffer)}
   */
  long write(ByteBuffer[] srcs, int offset, int length);

  /** Which of the operations would not find themselves blocked now: the truth, not a hint. */
  int readiness(int ops);

  /**
   * Asks for a hint to this stream's ready set when one of the operations becomes ready, then looks
   * again.
   *
   * @return true if none is ready, so that the hint will come; false if one is ready already
   */
  boolean watch(int ops);

  /**
   * As {@link #watch}, but the hint may come each time, until {@link #watch} or {@link #unwatch}:
   * cheaper for a stream that is watched again after each message. To be called after {@link
   * #readiness} has shown nothing since the last hint.
   */
  default boolean watchEvery(int ops) {
    return watch(ops);
  }

  /** Ends what {@link #watchEvery} asked for. */
  default void unwatch() {}

  /**
   * Asks for a doorbell when one of the operations becomes ready, for a thread about to sleep, then
   * looks again.
   *
   * @return true if none is ready and the thread may sleep
   */
  boolean await(int ops);

  /**
   * Whether it is of use to ask for {@link #rings}: false where the peer has said that it cannot
   * ring doorbells of this process's threads, or the transport has no such thing.
   */
  default boolean ringsDoorbells() {
    return false;
  }

  /**
   * Whether the peer can ring a doorbell of this process's threads. If it does not know that
   * doorbell yet it is told of it, for later sleeps. Any thread.
   *
   * @param doorbell number of a doorbell in the pool of this process
   */
  default boolean rings(int doorbell) {
    return false;
  }

  /**
   * As {@link #await(int)}, for a thread that is about to sleep on a doorbell.
   *
   * @param doorbell number of a doorbell of which {@link #rings} has said that it can be rung, or
   *     {@link #NO_DOORBELL}
   */
  default boolean await(int ops, int doorbell) {
    return await(ops);
  }

  /** Ends the announcement of {@link #await}. */
  void awake(int ops);

  /** Publishes the end of this side's output and notifies the peer. Idempotent. */
  void finishOutput();

  /**
   * Publishes that this side will not read again: because it closes, before {@link #abort}, or
   * {@link #finishOutput} unless its output has ended earlier; or because both directions are shut
   * down. May be called again once bytes are left unread.
   *
   * @param leftUnread whether bytes of the peer's are left unread by a close, or it ends with a
   *     reset for another reason, so that not one of the peer's further writes is taken
   */
  void abandonInput(boolean leftUnread);

  /** Publishes that this side ends with a reset, as TCP does when unread input is closed. */
  void abort();

  /** How many received bytes are unread. */
  int available();

  /** Whether received bytes are unread. */
  boolean unread();

  /** Whether everything written has been handed to where it survives this process. */
  boolean flushed();

  /**
   * Tells that the control connection has ended, by FIN or by RST; the first word counts.
   *
   * @return whether reading ends with a reset, unless the peer has said how it ends; while it
   *     {@linkplain #expectsMore expects more} that is not known, and false: to be asked again
   */
  boolean controlEnded(boolean reset);

  /**
   * Whether more of the peer's may come though the control connection has ended, for a short time:
   * in some transports bytes, and the switch itself, go another way, and may be behind. Until then
   * reads find nothing yet. Waiting threads are woken as usual when that time is over. Any thread.
   */
  default boolean expectsMore() {
    return false;
  }

  /**
   * Whether the control connection has ended by the end of the peer's output alone, which stays on
   * TCP: the peer still reads, so writes continue. Once it has become false after being true, it
   * stays false. Any thread.
   */
  default boolean outputGoesOn() {
    return false;
  }

  /**
   * Tells that the peer no longer reads this side's output, so that writes break, while the control
   * connection still brings bytes of the peer's, or may.
   */
  void outputLost();

  /**
   * Wakes the threads that sleep at the peer by a message of the session: slower than a doorbell.
   */
  void wakePeerBySession();

  /** Puts the stream in a selector's ready set, or takes it out with null. */
  void moveTo(ReadySet readySet);

  /** Takes the stream out of a ready set, unless another has it by now. */
  void leave(ReadySet readySet);

  /** Size of what this side reads from, in bytes, for those who watch. */
  int inBytes();

  /** Size of what this side writes to, in bytes, for those who watch. */
  int outBytes();

  /** Gives everything back. The last call. */
  void release();

  /** What carries the bytes, for people: for example {@code ring 32 KiB/32 KiB}. */
  String detail();
}
