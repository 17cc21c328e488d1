// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.VerbsStructs.RecvWr;
import io.talaria.verbs.binding.VerbsStructs.Sge;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A block of receive requests in native memory ({@code ibv_recv_wr}), filled in place and posted
 * any number of times. {@link #request} chooses one; the other methods change the one that was
 * chosen. Allocates nothing once it is made. Confined to one thread at a time.
 */
public final class ReceiveRequests {
  private final ProtectionDomain domain;
  private final MemorySegment memory;

  /** Keeps alive what the requests point to. */
  private final MemorySegment[] kept;

  private final long requests;
  private final long pieceList;
  private final long failedField;
  private final int count;
  private final int pieces;
  private long current;
  private int currentIndex;
  private int failed = -1;

  private ReceiveRequests(ProtectionDomain domain, int count, int pieces) {
    this.domain = Objects.requireNonNull(domain, "domain");
    this.count = Bits.inRange(count, 1, SendRequests.MAX_COUNT, "the number of requests");
    this.pieces = Bits.inRange(pieces, 1, SendRequests.MAX_PIECES, "the number of pieces");
    memory =
        Arena.ofAuto()
            .allocate(RecvWr.SIZE * count + Sge.SIZE * count * pieces + JAVA_LONG.byteSize(), 8);
    kept = new MemorySegment[count * pieces];
    requests = memory.address();
    pieceList = requests + RecvWr.SIZE * count;
    failedField = pieceList + Sge.SIZE * count * pieces;
    for (int i = 0; i < count; i++) {
      Raw.word(at(i) + RecvWr.SG_LIST, pieceList + Sge.SIZE * i * pieces);
      Raw.word(at(i) + RecvWr.NEXT, i + 1 < count ? at(i + 1) : 0);
    }
    current = requests;
  }

  /**
   * Makes a block of empty requests: each receives a message without bytes.
   *
   * @param domain whose regions and queues it is for
   * @param count how many requests, at least 1
   * @param pieces of memory that each may have, at least 1
   * @return a block
   */
  public static ReceiveRequests allocate(ProtectionDomain domain, int count, int pieces) {
    return new ReceiveRequests(domain, count, pieces);
  }

  private long at(int index) {
    return requests + RecvWr.SIZE * index;
  }

  /**
   * Chooses a request and makes it empty.
   *
   * @param index from 0
   * @return this
   */
  public ReceiveRequests request(int index) {
    current = at(Objects.checkIndex(index, count));
    currentIndex = index;
    Raw.half(current + RecvWr.NUM_SGE, 0);
    return this;
  }

  /**
   * Gives it an identifier.
   *
   * @param id what its completion will have
   * @return this
   */
  public ReceiveRequests id(long id) {
    Raw.word(current + RecvWr.WR_ID, id);
    return this;
  }

  /**
   * Adds a piece of memory to receive into.
   *
   * @param region open for {@link Access#LOCAL_WRITE}, of the same protection domain
   * @param offset where in the region
   * @param bytes how much
   * @return this
   */
  public ReceiveRequests local(MemoryRegion region, long offset, int bytes) {
    int piece = Raw.half(current + RecvWr.NUM_SGE);
    SendRequests.piece(domain, region, offset, bytes, piece, pieces, sge(piece));
    kept[currentIndex * pieces + piece] = region.kept();
    Raw.half(current + RecvWr.NUM_SGE, piece + 1);
    return this;
  }

  private long sge(int piece) {
    return pieceList + Sge.SIZE * (currentIndex * pieces + piece);
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

  void check(ProtectionDomain queue, int first, int number, int most) {
    if (number < 1) {
      throw new IllegalArgumentException(number + " requests to post");
    }
    Objects.checkFromIndexSize(first, number, count);
    if (queue != domain) {
      queue.require(domain, "block of requests");
    }
    if (pieces > most) {
      for (int i = first; i < first + number; i++) {
        Bits.inRange(Raw.half(at(i) + RecvWr.NUM_SGE), 0, most, "the number of pieces");
      }
    }
  }

  /** Ends the chain after a run of requests; gives where the run begins. */
  long cut(int first, int number) {
    if (first + number < count) {
      Raw.word(at(first + number - 1) + RecvWr.NEXT, 0);
    }
    return at(first);
  }

  /** Joins the chain again; gives how many were posted. */
  int joined(int status, int first, int number) {
    int last = first + number - 1;
    if (last + 1 < count) {
      Raw.word(at(last) + RecvWr.NEXT, at(last + 1));
    }
    if (status == 0) {
      failed = -1;
      return number;
    }
    long bad = Raw.word(failedField);
    Raw.word(failedField, 0); // as before every post
    failed = bad == 0 ? first : (int) ((bad - requests) / RecvWr.SIZE);
    return failed - first;
  }

  long failedField() {
    return failedField;
  }

  @Override
  public String toString() {
    return count + " receive requests in " + memory.byteSize() + " bytes";
  }
}
