// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.Raw;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * An active message that has arrived: a header and data. The data of an eager message are there to
 * be read; those of a rendezvous are still at the sender, to be asked for by {@link #receive},
 * which works for both.
 *
 * <p>Handlers are given one for the time of the call. To keep a message a program makes one of its
 * own, which it may use again and again: {@link #moveTo} fills it, {@link #receive} and {@link
 * #release} empty it; closing the worker empties it too. Obeys the worker's rule of threads. An
 * empty one has no header and no data; reading from it throws {@link IndexOutOfBoundsException}.
 */
public final class ActiveMessage {
  private static final long HEADER_BYTES = 64;

  /** Whether it is what handlers are given, which UCX fills again after the call. */
  private final boolean ofQueue;

  private Worker worker;
  private int id;
  private MemorySegment header = MemorySegment.NULL;
  private long headerLength;

  /** What UCX gave and wants back; 0: nothing. */
  private long held;

  /** Where the data of an eager message are. */
  private long data;

  private long length;
  private boolean rendezvous;
  private Endpoint reply;

  /** Keeps a copy of data alive that UCX did not leave to us. */
  private MemorySegment copy;

  /** The worker's others that the program holds. */
  private ActiveMessage next;

  /** Makes an empty one. */
  public ActiveMessage() {
    this(false);
  }

  /** Makes an empty one, for the program or for the queue. */
  ActiveMessage(boolean ofQueue) {
    this.ofQueue = ofQueue;
  }

  /** Takes what UCX has called with. For the program it is still empty. */
  void fill(int messageId, long headerFrom, long headerBytes) {
    if (headerBytes > header.byteSize()) {
      header = Arena.ofAuto().allocate(Math.max(HEADER_BYTES, headerBytes), 8);
    }
    if (headerBytes > 0) {
      Raw.copy(headerFrom, header, 0, headerBytes);
    }
    id = messageId;
    headerLength = headerBytes;
  }

  void fillHeld(long from, long bytes, boolean isRendezvous) {
    held = from;
    data = isRendezvous ? 0 : from;
    length = bytes;
    rendezvous = isRendezvous;
  }

  void fillCopied(long from, long bytes) {
    copy = Arena.ofAuto().allocate(bytes, 8);
    Raw.copy(from, copy, 0, bytes);
    data = copy.address();
    length = bytes;
  }

  void fillReply(Endpoint endpoint) {
    reply = endpoint;
  }

  /** What was queued is there for the program from now on. */
  void present(Worker receiver) {
    worker = receiver;
  }

  ActiveMessage next() {
    return next;
  }

  /** A list without one of its members. */
  static ActiveMessage without(ActiveMessage first, ActiveMessage message) {
    if (first == message) {
      return message.next;
    }
    ActiveMessage before = first;
    while (before.next != message) {
      before = before.next;
    }
    before.next = message.next;
    return first;
  }

  /**
   * Whether it holds a message.
   *
   * @return whether there is one
   */
  public boolean isPresent() {
    return worker != null;
  }

  /**
   * Which handler it was sent to.
   *
   * @return an id
   */
  public int id() {
    return id;
  }

  /**
   * How long the header is.
   *
   * @return a number of bytes; may be 0
   */
  public long headerLength() {
    return headerLength;
  }

  /**
   * How long the data are.
   *
   * @return a number of bytes; may be 0
   */
  public long length() {
    return length;
  }

  /**
   * Whether the data are still at the sender: {@link #receive} asks for them, {@link #release}
   * tells the sender that they are not wanted.
   *
   * @return whether they are
   */
  public boolean isRendezvous() {
    return rendezvous;
  }

  /**
   * By which endpoint to answer, if the sender wanted that ({@link MessageFlags#REPLY}).
   *
   * @return the program's endpoint to the sender; null if it did not want it, or the program has no
   *     open one to it: endpoints that UCX keeps for itself are not given away, because it may end
   *     them at any time
   */
  public Endpoint reply() {
    return reply;
  }

  /**
   * Reads a byte of the header.
   *
   * @param offset where
   * @return the byte
   */
  public byte headerByteAt(long offset) {
    return Raw.byteAt(headerAt(offset, 1));
  }

  /**
   * Reads an int of the header in the native byte order.
   *
   * @param offset where; need not be aligned
   * @return the int
   */
  public int headerIntAt(long offset) {
    return Raw.intAt(headerAt(offset, 4));
  }

  /**
   * Reads a long of the header in the native byte order.
   *
   * @param offset where; need not be aligned
   * @return the long
   */
  public long headerLongAt(long offset) {
    return Raw.longAt(headerAt(offset, 8));
  }

  /**
   * Copies bytes of the header.
   *
   * @param offset where they are
   * @param to where they go
   * @param toOffset where in it
   * @param count how many
   */
  public void copyHeaderTo(long offset, MemorySegment to, long toOffset, long count) {
    Raw.copy(headerAt(offset, count), to, toOffset, count);
  }

  private long headerAt(long offset, long count) {
    Objects.checkFromIndexSize(offset, count, worker == null ? 0 : headerLength);
    enter();
    return header.address() + offset;
  }

  /**
   * Reads a byte of the data of an eager message.
   *
   * @param offset where
   * @return the byte
   */
  public byte byteAt(long offset) {
    return Raw.byteAt(at(offset, 1));
  }

  /**
   * Reads an int of the data of an eager message in the native byte order.
   *
   * @param offset where; need not be aligned
   * @return the int
   */
  public int intAt(long offset) {
    return Raw.intAt(at(offset, 4));
  }

  /**
   * Reads a long of the data of an eager message in the native byte order.
   *
   * @param offset where; need not be aligned
   * @return the long
   */
  public long longAt(long offset) {
    return Raw.longAt(at(offset, 8));
  }

  /**
   * Copies data of an eager message.
   *
   * @param offset where they are
   * @param to where they go
   * @param toOffset where in it
   * @param count how many
   */
  public void copyTo(long offset, MemorySegment to, long toOffset, long count) {
    Raw.copy(at(offset, count), to, toOffset, count);
  }

  private void enter() {
    if (worker != null) {
      worker.entered();
    }
  }

  private long at(long offset, long count) {
    Objects.checkFromIndexSize(offset, count, worker == null ? 0 : length);
    enter();
    if (rendezvous) {
      throw new IllegalStateException("the data are still at the sender: receive them first");
    }
    return data + offset;
  }

  /**
   * Receives the data into a buffer ({@code ucp_am_recv_data_nbx}); the message is empty then.
   *
   * @param to native memory with room for all of them; UCX's until the request is done
   * @param offset where in it
   * @return a request, done or not; or a negative status
   */
  public long receive(MemorySegment to, long offset) {
    if (worker == null) {
      throw new IllegalStateException("there is no message");
    }
    Worker receiver = worker;
    receiver.entered();
    receiver.requests.reserve();
    long count = length;
    long address = Native.writable(to, offset, count);
    if (rendezvous) {
      long descriptor = held;
      held = 0;
      release();
      return receiver.receiveMessage(descriptor, address, count, to);
    }
    if (count > 0) {
      copyTo(0, to, offset, count);
    }
    release();
    return receiver.requests.received(0, RequestTable.MESSAGE_RECEIVE, null, count, 0);
  }

  /**
   * Receives the data into several pieces of memory ({@code ucp_am_recv_data_nbx} of {@code
   * ucp_dt_iov_t}); the message is empty then.
   *
   * @param to pieces with room for all of them; UCX's until the request is done
   * @return a request, done or not; or a negative status
   */
  public long receive(IoVector to) {
    if (worker == null) {
      throw new IllegalStateException("there is no message");
    }
    Worker receiver = worker;
    receiver.entered();
    receiver.requests.reserve();
    to.writable();
    long count = length;
    if (to.lengthBytes() < count) {
      throw new IllegalArgumentException(to + " has no room for a message of " + count + " bytes");
    }
    if (rendezvous) {
      long descriptor = held;
      held = 0;
      release();
      return receiver.receiveMessage(descriptor, to, count);
    }
    if (count > 0) {
      to.fill(at(0, count), count);
    }
    release();
    return receiver.requests.received(0, RequestTable.MESSAGE_RECEIVE, null, count, 0);
  }

  /**
   * Moves the message to another object, to keep it; this one is empty then.
   *
   * @param other where to put it; one of the program's own that holds none
   */
  public void moveTo(ActiveMessage other) {
    if (worker == null) {
      throw new IllegalStateException("there is no message");
    }
    if (other.ofQueue) {
      throw new IllegalArgumentException(
          "the other is a handler's, for the time of the call: move it to one of your own");
    }
    if (other.worker != null) {
      throw new IllegalStateException("the other holds a message: release it first");
    }
    worker.entered();
    MemorySegment spare = other.header;
    other.header = header;
    header = spare;
    other.worker = worker;
    other.id = id;
    other.headerLength = headerLength;
    other.held = held;
    other.data = data;
    other.length = length;
    other.rendezvous = rendezvous;
    other.reply = reply;
    other.copy = copy;
    worker.messages().moved(this, other);
    clear();
  }

  /** The program holds it; others of its are linked to it. */
  void link(ActiveMessage following) {
    next = following;
  }

  /**
   * Gives the message back to UCX ({@code ucp_am_data_release}); a sender by rendezvous is told
   * that its data are not wanted, and is done. Does nothing if it is empty.
   */
  public void release() {
    Worker receiver = worker;
    if (receiver != null) {
      receiver.entered();
      receiver.messages().released(this, held);
      clear();
    }
  }

  private void clear() {
    worker = null;
    headerLength = 0;
    held = 0;
    data = 0;
    length = 0;
    rendezvous = false;
    reply = null;
    copy = null;
    next = null;
  }
}
