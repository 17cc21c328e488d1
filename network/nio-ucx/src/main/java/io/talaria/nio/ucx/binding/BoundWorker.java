// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.binding;

/**
 * A UCX worker, for whichever thread is between {@link #enter} and {@link #exit}; so are its
 * endpoints and what they hand out. Nothing happens by itself: operations proceed inside {@link
 * #progress}. No call blocks, but {@link #enter} while another thread is inside.
 */
public interface BoundWorker extends AutoCloseable {
  /** An operation is done: {@code UCS_OK}. */
  int OK = 0;

  /** An operation is not done yet: {@code UCS_INPROGRESS}. */
  int IN_PROGRESS = 1;

  /** How many endpoints {@link #pollStreams} names at once. */
  int MAX_READY = 64;

  /**
   * Begins a turn of this thread; waits while another has it. May be nested.
   *
   * @throws IllegalStateException if the worker is closed
   */
  void enter();

  /**
   * Begins a turn unless another thread has it.
   *
   * @return whether the turn has begun
   * @throws IllegalStateException if the worker is closed
   */
  boolean tryEnter();

  /** Ends a turn. */
  void exit();

  /**
   * Whether this thread is inside, for assertions.
   *
   * @return true
   * @throws IllegalStateException if not
   */
  boolean entered();

  /**
   * How others reach this worker.
   *
   * @return UCX's own bytes
   */
  byte[] address();

  /**
   * A descriptor that is readable when there is something to progress, once {@link #arm} has
   * answered true. It belongs to the worker.
   *
   * @return a file descriptor
   */
  int eventDescriptor();

  /**
   * Announces sleep on {@link #eventDescriptor}.
   *
   * @return false: there is something to progress first
   */
  boolean arm();

  /**
   * Makes operations proceed.
   *
   * @return 0 if nothing was to do
   */
  int progress();

  /**
   * Names endpoints that have received bytes which are unread; the caller then reads each until
   * there are none. One may be named that has none.
   *
   * @param ready where to put what was given to {@link #connect}: {@value #MAX_READY} places
   * @return how many were put; if all places were taken, there may be more
   */
  int pollStreams(Object[] ready);

  /**
   * Opens an endpoint that handles the failure of its peer. It may be used at once.
   *
   * @param address UCX's own bytes, from a peer that is trusted with them
   * @param attachment what {@link #pollStreams} names
   * @return an endpoint, to be closed
   * @throws BindingException if UCX refuses
   */
  BoundEndpoint connect(byte[] address, Object attachment);

  /**
   * Makes a place for received bytes.
   *
   * @return one that is empty
   */
  Received newReceived();

  /**
   * Whether a message by tag has come.
   *
   * @return whether {@link #receiveTag} would find one
   */
  boolean hasMessage();

  /**
   * Receives the next message, whatever its tag; one must have come. Of a longer one only the end
   * is told.
   *
   * @param block memory, UCX's until the request is done
   * @param length for how much of it, in bytes
   * @return a request, done or not; or a negative status
   */
  long receiveTag(Block block, int length);

  /**
   * How an operation stands.
   *
   * @param request what it gave
   * @return {@link #IN_PROGRESS}, {@link #OK}, or a negative status
   */
  int status(long request);

  /**
   * How many bytes a message had.
   *
   * @param request of a receive that is done
   * @return a number; 0 if it failed
   */
  long receivedBytes(long request);

  /**
   * The tag of a message.
   *
   * @param request of a receive that is done
   * @return the tag; 0 if it failed
   */
  long receivedTag(long request);

  /**
   * Forgets a request that is done.
   *
   * @param request what the operation gave
   */
  void release(long request);

  /**
   * How an operation stands; if it is over, the request is forgotten.
   *
   * @param request what it gave
   * @return {@link #IN_PROGRESS}, {@link #OK}, or a negative status
   */
  int poll(long request);

  /**
   * Completes when all that was sent has arrived.
   *
   * @return 0, a request, or a negative status
   */
  long flush();

  /** Closes the worker and its endpoints. It is entered for the purpose. */
  @Override
  void close();
}
