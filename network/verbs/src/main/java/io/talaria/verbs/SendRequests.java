// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs.MwBindInfo;
import io.talaria.verbs.binding.VerbsStructs.SendWr;
import io.talaria.verbs.binding.VerbsStructs.Sge;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A block of send requests in native memory ({@code ibv_send_wr}), filled in place and posted any
 * number of times. A method that begins a request ({@link #send}, {@link #write}, {@link #read} and
 * so on) chooses it and makes it empty; the others change the one that was chosen last. Allocates
 * nothing once it is made. Confined to one thread at a time.
 *
 * <pre>{@code
 * requests.read(0).id(7).local(region, 0, 16).remote(address, key).signaled();
 * int status = queuePair.post(requests, 0, 1);
 * }</pre>
 */
public final class SendRequests {
  /** The most requests of a block. */
  public static final int MAX_COUNT = 1 << 20;

  /** The most pieces of a request. */
  public static final int MAX_PIECES = 1 << 10;

  private static final int SIGNALED = VerbsConstants.IBV_SEND_SIGNALED;
  private static final int INLINE = VerbsConstants.IBV_SEND_INLINE;

  private final ProtectionDomain domain;
  private final MemorySegment memory;

  /** Keeps alive what the requests point to. */
  private final MemorySegment[] kept;

  /** Address handles and windows that requests name. */
  private final NativeObject[] subjects;

  /** Regions that windows are bound to. */
  private final NativeObject[] bound;

  private final long requests;
  private final long pieceList;
  private final long failedField;
  private final int count;
  private final int pieces;
  private long current;
  private int currentIndex;
  private int failed = -1;

  private SendRequests(ProtectionDomain domain, int count, int pieces) {
    this.domain = Objects.requireNonNull(domain, "domain");
    this.count = Bits.inRange(count, 1, MAX_COUNT, "the number of requests");
    this.pieces = Bits.inRange(pieces, 1, MAX_PIECES, "the number of pieces");
    memory =
        Arena.ofAuto()
            .allocate(SendWr.SIZE * count + Sge.SIZE * count * pieces + JAVA_LONG.byteSize(), 8);
    kept = new MemorySegment[count * pieces];
    subjects = new NativeObject[count];
    bound = new NativeObject[count];
    requests = memory.address();
    pieceList = requests + SendWr.SIZE * count;
    failedField = pieceList + Sge.SIZE * count * pieces;
    for (int i = 0; i < count; i++) {
      Raw.word(at(i) + SendWr.SG_LIST, pieceList + Sge.SIZE * i * pieces);
      Raw.word(at(i) + SendWr.NEXT, i + 1 < count ? at(i + 1) : 0);
      Raw.half(at(i) + SendWr.OPCODE, VerbsConstants.IBV_WR_SEND);
    }
    current = requests;
  }

  /**
   * Makes a block of requests; at first, each sends a message without bytes.
   *
   * @param domain whose regions and queue pairs it is for
   * @param count how many requests, at least 1
   * @param pieces of memory that each may have, at least 1
   * @return a block
   */
  public static SendRequests allocate(ProtectionDomain domain, int count, int pieces) {
    return new SendRequests(domain, count, pieces);
  }

  private long at(int index) {
    return requests + SendWr.SIZE * index;
  }

  private SendRequests begin(int index, int opcode) {
    current = at(Objects.checkIndex(index, count));
    currentIndex = index;
    Raw.half(current + SendWr.OPCODE, opcode);
    Raw.half(current + SendWr.SEND_FLAGS, 0);
    Raw.half(current + SendWr.NUM_SGE, 0);
    if (subjects[index] != null) {
      subjects[index] = null;
      bound[index] = null;
    }
    return this;
  }

  /**
   * Begins a message.
   *
   * @param index which request, from 0
   * @return this
   */
  public SendRequests send(int index) {
    return begin(index, VerbsConstants.IBV_WR_SEND);
  }

  /**
   * Begins a message with a word for the receiver's completion.
   *
   * @param index which request, from 0
   * @param immediate 32 bits
   * @return this
   */
  public SendRequests sendImmediate(int index, int immediate) {
    begin(index, VerbsConstants.IBV_WR_SEND_WITH_IMM);
    Raw.half(current + SendWr.IMM_DATA, Bits.networkInt(immediate));
    return this;
  }

  /**
   * Begins a message that makes a key of the receiver invalid.
   *
   * @param index which request, from 0
   * @param remoteKey of a memory window of type 2
   * @return this
   */
  public SendRequests sendInvalidating(int index, int remoteKey) {
    begin(index, VerbsConstants.IBV_WR_SEND_WITH_INV);
    Raw.half(current + SendWr.IMM_DATA, remoteKey);
    return this;
  }

  /**
   * Begins a write to remote memory.
   *
   * @param index which request, from 0
   * @return this
   */
  public SendRequests write(int index) {
    return begin(index, VerbsConstants.IBV_WR_RDMA_WRITE);
  }

  /**
   * Begins a write to remote memory that completes a receive request there.
   *
   * @param index which request, from 0
   * @param immediate 32 bits for that completion
   * @return this
   */
  public SendRequests writeImmediate(int index, int immediate) {
    begin(index, VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM);
    Raw.half(current + SendWr.IMM_DATA, Bits.networkInt(immediate));
    return this;
  }

  /**
   * Begins a read of remote memory.
   *
   * @param index which request, from 0
   * @return this
   */
  public SendRequests read(int index) {
    return begin(index, VerbsConstants.IBV_WR_RDMA_READ);
  }

  /**
   * Begins an atomic addition to 64 bits of remote memory, whose old value comes to the local piece
   * of 8 bytes.
   *
   * @param index which request, from 0
   * @param add what to add
   * @return this
   */
  public SendRequests fetchAdd(int index, long add) {
    begin(index, VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD);
    Raw.word(current + SendWr.WR_ATOMIC_COMPARE_ADD, add);
    return this;
  }

  /**
   * Begins an atomic compare and swap of 64 bits of remote memory, whose old value comes to the
   * local piece of 8 bytes.
   *
   * @param index which request, from 0
   * @param expected what must be there
   * @param swap what to put there then
   * @return this
   */
  public SendRequests compareSwap(int index, long expected, long swap) {
    begin(index, VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP);
    Raw.word(current + SendWr.WR_ATOMIC_COMPARE_ADD, expected);
    Raw.word(current + SendWr.WR_ATOMIC_SWAP, swap);
    return this;
  }

  /**
   * Begins the binding of a memory window of type 2. The window has its next key at once; peers may
   * use it when the request is completed.
   *
   * @param index which request, from 0
   * @param window of the same protection domain
   * @param region open for {@link Access#WINDOW_BIND}
   * @param offset where in the region the window starts
   * @param bytes how long it is
   * @param access what peers may do
   * @return this
   */
  public SendRequests bind(
      int index,
      MemoryWindow window,
      MemoryRegion region,
      long offset,
      long bytes,
      Access... access) {
    if (window.type() != 2) {
      throw new IllegalArgumentException("a window of type 1 is bound by QueuePair.bind");
    }
    domain.require(window.domain(), "memory window");
    domain.require(region.domain(), "memory region");
    int bits = Access.remoteBits(access);
    long start = region.addressOf(offset, bytes);
    begin(index, VerbsConstants.IBV_WR_BIND_MW);
    Raw.word(current + SendWr.BIND_MW_MW, window.pointer());
    int key = window.nextRemoteKey();
    Raw.half(current + SendWr.BIND_MW_RKEY, key);
    long info = current + SendWr.BIND_MW_BIND_INFO;
    Raw.word(info + MwBindInfo.MR, region.pointer());
    Raw.word(info + MwBindInfo.ADDR, start);
    Raw.word(info + MwBindInfo.LENGTH, bytes);
    Raw.half(info + MwBindInfo.MW_ACCESS_FLAGS, bits);
    subjects[index] = window;
    bound[index] = region;
    window.bound(key);
    return this;
  }

  /**
   * Begins the end of a memory window's key.
   *
   * @param index which request, from 0
   * @param remoteKey of a window of type 2 of this host
   * @return this
   */
  public SendRequests invalidate(int index, int remoteKey) {
    begin(index, VerbsConstants.IBV_WR_LOCAL_INV);
    Raw.half(current + SendWr.IMM_DATA, remoteKey);
    return this;
  }

  /**
   * Gives it an identifier.
   *
   * @param id what its completion will have
   * @return this
   */
  public SendRequests id(long id) {
    Raw.word(current + SendWr.WR_ID, id);
    return this;
  }

  /**
   * Adds a piece of local memory.
   *
   * @param region of the same protection domain
   * @param offset where in the region
   * @param bytes how much
   * @return this
   */
  public SendRequests local(MemoryRegion region, long offset, int bytes) {
    int piece = Raw.half(current + SendWr.NUM_SGE);
    piece(domain, region, offset, bytes, piece, pieces, sge(piece));
    kept[currentIndex * pieces + piece] = region.kept();
    Raw.half(current + SendWr.NUM_SGE, piece + 1);
    return this;
  }

  static void piece(
      ProtectionDomain domain,
      MemoryRegion region,
      long offset,
      int bytes,
      int piece,
      int pieces,
      long sge) {
    if (piece >= pieces) {
      throw new IllegalStateException("the request has " + pieces + " pieces already");
    }
    if (region.domain() != domain) {
      domain.require(region.domain(), "memory region");
    }
    Raw.word(sge + Sge.ADDR, region.addressOf(offset, bytes));
    Raw.half(sge + Sge.LENGTH, bytes);
    Raw.half(sge + Sge.LKEY, region.localKey());
  }

  private long sge(int piece) {
    return pieceList + Sge.SIZE * (currentIndex * pieces + piece);
  }

  /**
   * Names the remote memory of a write, read or atomic operation. Takes the place of a destination.
   *
   * @param address as the peer's {@link MemoryRegion#remoteAddress} says, plus an offset
   * @param remoteKey as the peer's {@link MemoryRegion#remoteKey} says
   * @return this
   */
  public SendRequests remote(long address, int remoteKey) {
    Raw.word(current + SendWr.WR_ATOMIC_REMOTE_ADDR, address);
    int opcode = Raw.half(current + SendWr.OPCODE);
    boolean atomic =
        opcode == VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD
            || opcode == VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP;
    // A union: the key of a read or write stands where the operand of an atomic operation does.
    Raw.half(current + (atomic ? SendWr.WR_ATOMIC_RKEY : SendWr.WR_ATOMIC_COMPARE_ADD), remoteKey);
    return this;
  }

  /**
   * Names the destination of a datagram.
   *
   * @param handle of the same protection domain; it must stay open until the datagram is completed
   * @param number of the queue pair there
   * @param key of the queue pair there
   * @return this
   * @throws IllegalStateException if the request binds a memory window
   */
  public SendRequests to(AddressHandle handle, int number, int key) {
    domain.require(handle.domain(), "address handle");
    if (bound[currentIndex] != null) {
      throw new IllegalStateException("the request binds a memory window");
    }
    Raw.word(current + SendWr.WR_ATOMIC_REMOTE_ADDR, handle.pointer());
    Raw.half(current + SendWr.WR_ATOMIC_COMPARE_ADD, number);
    Raw.half(current + SendWr.WR_ATOMIC_COMPARE_ADD + 4, key);
    subjects[currentIndex] = handle;
    return this;
  }

  /**
   * Asks for a completion. One request in as many as the send queue holds must, at least.
   *
   * @return this
   */
  public SendRequests signaled() {
    return flag(SIGNALED);
  }

  /**
   * Lets the receiver be woken also when it sleeps for solicited messages only.
   *
   * @return this
   */
  public SendRequests solicited() {
    return flag(VerbsConstants.IBV_SEND_SOLICITED);
  }

  /**
   * Lets it wait until reads and atomic operations before it are done.
   *
   * @return this
   */
  public SendRequests fenced() {
    return flag(VerbsConstants.IBV_SEND_FENCE);
  }

  /**
   * Lets the data be copied when it is posted: the memory may be used again at return. At most as
   * many bytes as the queue pair takes inline. Not from {@link Access#ZERO_BASED} regions.
   *
   * @return this
   */
  public SendRequests inline() {
    return flag(INLINE);
  }

  private SendRequests flag(int bit) {
    Raw.half(current + SendWr.SEND_FLAGS, Raw.half(current + SendWr.SEND_FLAGS) | bit);
    return this;
  }

  /**
   * Which request was the first that the last post has not posted.
   *
   * @return its index; -1 if all were posted
   */
  public int failed() {
    return failed;
  }

  /**
   * How many requests there are.
   *
   * @return at least 1
   */
  public int count() {
    return count;
  }

  void check(ProtectionDomain queue, int first, int number) {
    if (number < 1) {
      throw new IllegalArgumentException(number + " requests to post");
    }
    Objects.checkFromIndexSize(first, number, count);
    if (queue != domain) {
      queue.require(domain, "block of requests");
    }
  }

  /** Checks a request before it is posted; gives whether it is signalled. */
  boolean checked(QueuePair queuePair, int index) {
    NativeObject subject = subjects[index];
    if (subject != null) {
      requireOpen(subject);
      if (bound[index] != null) {
        requireOpen(bound[index]);
      }
    }
    if (queuePair.type() == QueuePair.Type.UD
        && !(subject instanceof AddressHandle
            && Raw.word(at(index) + SendWr.WR_ATOMIC_REMOTE_ADDR) == subject.pointer())) {
      // A union: where remote() has put an address, providers would follow it as the handle.
      throw new IllegalStateException("request " + index + " has no address handle: see to()");
    }
    if (pieces > queuePair.sendPieces()) {
      Bits.inRange(
          Raw.half(at(index) + SendWr.NUM_SGE), 0, queuePair.sendPieces(), "the number of pieces");
    }
    int flags = Raw.half(at(index) + SendWr.SEND_FLAGS);
    if ((flags & INLINE) != 0) {
      checkInline(queuePair, index);
    }
    return (flags & SIGNALED) != 0;
  }

  private static void requireOpen(NativeObject object) {
    long ignored = object.pointer();
  }

  /** Inline data is copied by this process, so it must be there, where the piece says, and fit. */
  private void checkInline(QueuePair queuePair, int index) {
    long bytes = 0;
    int used = Raw.half(at(index) + SendWr.NUM_SGE);
    for (int piece = 0; piece < used; piece++) {
      long sge = pieceList + Sge.SIZE * (index * pieces + piece);
      long length = Raw.half(sge + Sge.LENGTH) & 0xffffffffL;
      MemorySegment source = kept[index * pieces + piece];
      MemoryRegion.requireAlive(source);
      long from = Raw.word(sge + Sge.ADDR) - source.address();
      if (from < 0 || from + length > source.byteSize()) {
        throw new IllegalArgumentException("inline data cannot come from a ZERO_BASED region");
      }
      bytes += length;
    }
    if (bytes > queuePair.inlineBytes()) {
      throw new IllegalArgumentException(
          bytes
              + " bytes inline, but the queue pair takes "
              + queuePair.inlineBytes()
              + ": ask for more when it is opened");
    }
  }

  /** Ends the chain after a run of requests; gives where the run begins. */
  long cut(int first, int number) {
    if (first + number < count) {
      Raw.word(at(first + number - 1) + SendWr.NEXT, 0);
    }
    return at(first);
  }

  /** Joins the chain again; gives how many were posted. */
  int joined(int status, int first, int number) {
    int last = first + number - 1;
    if (last + 1 < count) {
      Raw.word(at(last) + SendWr.NEXT, at(last + 1));
    }
    if (status == 0) {
      failed = -1;
      return number;
    }
    long bad = Raw.word(failedField);
    Raw.word(failedField, 0); // as before every post
    failed = bad == 0 ? first : (int) ((bad - requests) / SendWr.SIZE);
    return failed - first;
  }

  long failedField() {
    return failedField;
  }

  @Override
  public String toString() {
    return count + " send requests in " + memory.byteSize() + " bytes";
  }
}
