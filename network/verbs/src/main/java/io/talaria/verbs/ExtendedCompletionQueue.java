// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs.CqEx;
import io.talaria.verbs.binding.VerbsStructs.CqInitAttrEx;
import io.talaria.verbs.binding.VerbsStructs.PollCqAttr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;

/**
 * A completion queue whose completions are read one by one, each field by a call ({@code
 * ibv_cq_ex}), and may have timestamps. One thread polls at a time.
 *
 * <p>Between {@link #start} and {@link #end} the provider may hold the lock of the queue. Until the
 * end, the thread that reads cannot poll, arm or resize the queue, or close or reset a queue pair
 * that uses it: these calls throw {@link IllegalStateException}.
 *
 * <pre>{@code
 * if (queue.start()) {
 *   do {
 *     use(queue.id(), queue.status());
 *   } while (queue.next());
 *   queue.end();
 * }
 * }</pre>
 */
public final class ExtendedCompletionQueue extends CompletionQueue {
  private static final int ENOENT = 2;
  private static final int PLAIN_EVERY = 256;

  private final boolean timestamps;
  private MemorySegment startPoll;
  private MemorySegment nextPoll;
  private MemorySegment endPoll;
  private MemorySegment readOpcode;
  private MemorySegment readVendorErr;
  private MemorySegment readByteLen;
  private MemorySegment readImmData;
  private MemorySegment readQpNum;
  private MemorySegment readSrcQp;
  private MemorySegment readWcFlags;
  private MemorySegment readCompletionTs;

  private final MemorySegment pollAttr = Arena.ofAuto().allocate(PollCqAttr.STRUCT.layout());

  /**
   * Whether the provider steps over a completion that is still to come: soft-RoCE's {@code
   * ibv_end_poll} goes one on even after {@code ibv_next_poll} found nothing (rdma-core's pull
   * request 1512). There each completion is started and ended by itself.
   */
  private final boolean oneByOne;

  /** Whether the provider is reading; only {@link #oneByOne} it may not be while we are. */
  private boolean polling;

  private int closingBefore;
  private int empty;

  private ExtendedCompletionQueue(Context context, CompletionChannel channel, boolean timestamps) {
    super("completion queue", context, channel);
    this.timestamps = timestamps;
    // What only soft-RoCE and soft-iWARP have: the network interface that they stand on.
    String device = context.name().split(" ", 2)[0];
    oneByOne = Files.exists(java.nio.file.Path.of("/sys/class/infiniband", device, "parent"));
  }

  static ExtendedCompletionQueue open(
      Context context, int entries, CompletionChannel channel, boolean timestamps) {
    check(context, entries, channel);
    ExtendedCompletionQueue queue = new ExtendedCompletionQueue(context, channel, timestamps);
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, CqInitAttrEx.STRUCT).address();
      Raw.half(at + CqInitAttrEx.CQE, entries);
      Raw.word(at + CqInitAttrEx.CHANNEL, channel == null ? 0 : channel.pointer());
      Raw.word(
          at + CqInitAttrEx.WC_FLAGS,
          VerbsConstants.IBV_WC_EX_WITH_BYTE_LEN
              | VerbsConstants.IBV_WC_EX_WITH_IMM
              | VerbsConstants.IBV_WC_EX_WITH_QP_NUM
              | VerbsConstants.IBV_WC_EX_WITH_SRC_QP
              | (timestamps ? VerbsConstants.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP : 0));
      long pointer = IbvOps.createCqEx(context.pointer(), at);
      if (pointer > 0) {
        queue.link(pointer);
      }
      queue.created(
          pointer,
          "ibv_create_cq_ex of " + entries + " entries" + (timestamps ? " with timestamps" : ""));
    }
    return queue;
  }

  private void link(long at) {
    startPoll = IbvOps.pointerAt(at + CqEx.START_POLL);
    nextPoll = IbvOps.pointerAt(at + CqEx.NEXT_POLL);
    endPoll = IbvOps.pointerAt(at + CqEx.END_POLL);
    readOpcode = IbvOps.pointerAt(at + CqEx.READ_OPCODE);
    readVendorErr = IbvOps.pointerAt(at + CqEx.READ_VENDOR_ERR);
    readByteLen = IbvOps.pointerAt(at + CqEx.READ_BYTE_LEN);
    readImmData = IbvOps.pointerAt(at + CqEx.READ_IMM_DATA);
    readQpNum = IbvOps.pointerAt(at + CqEx.READ_QP_NUM);
    readSrcQp = IbvOps.pointerAt(at + CqEx.READ_SRC_QP);
    readWcFlags = IbvOps.pointerAt(at + CqEx.READ_WC_FLAGS);
    readCompletionTs = IbvOps.pointerAt(at + CqEx.READ_COMPLETION_TS);
  }

  /**
   * Starts to read ({@code ibv_start_poll}). Does not block, allocates nothing.
   *
   * @return whether there is a completion; then {@link #end} must be called at last
   * @throws VerbsException if the queue is lost
   */
  public boolean start() {
    long queue = pointer();
    requireNotReading();
    closingBefore = closing();
    int status =
        empty % PLAIN_EVERY == PLAIN_EVERY - 1
            ? IbvOps.startPollPlain(startPoll, queue, pollAttr.address())
            : IbvOps.startPoll(startPoll, queue, pollAttr.address());
    if (status == ENOENT) {
      empty++;
      if (closingBefore != 0) {
        drained(closingBefore);
      }
      return false;
    }
    if (status != 0) {
      throw new VerbsException(status, "ibv_start_poll");
    }
    empty = 0;
    reader = Thread.currentThread();
    polling = true;
    account(queue);
    return true;
  }

  /**
   * Moves to the next completion ({@code ibv_next_poll}).
   *
   * @return whether there is one
   * @throws VerbsException if the queue is lost
   */
  public boolean next() {
    long queue = reading();
    int status;
    if (oneByOne) {
      if (polling) {
        polling = false;
        IbvOps.endPoll(endPoll, queue);
      }
      status = IbvOps.startPoll(startPoll, queue, pollAttr.address());
      polling = status == 0;
    } else {
      status = IbvOps.nextPoll(nextPoll, queue);
    }
    if (status == ENOENT) {
      return false;
    }
    if (status != 0) {
      throw new VerbsException(status, "ibv_next_poll");
    }
    account(queue);
    return true;
  }

  /** Ends reading ({@code ibv_end_poll}). */
  public void end() {
    long queue = reading();
    reader = null;
    if (polling) {
      polling = false;
      IbvOps.endPoll(endPoll, queue);
    }
  }

  private long reading() {
    if (reader == null) {
      throw new IllegalStateException("reading has not begun: see start()");
    }
    return pointer();
  }

  private void account(long queue) {
    int status = Raw.half(queue + CqEx.STATUS);
    int opcode = status == Status.SUCCESS ? IbvOps.readInt(readOpcode, queue) : 0;
    completed(IbvOps.readInt(readQpNum, queue), status, opcode);
  }

  /**
   * The identifier of the request.
   *
   * @return what the program has given it
   */
  public long id() {
    return Raw.word(reading() + CqEx.WR_ID);
  }

  /**
   * How the request ended.
   *
   * @return one of the constants of {@link Status}
   */
  public int status() {
    return Raw.half(reading() + CqEx.STATUS);
  }

  /**
   * What it was ({@code ibv_wc_read_opcode}).
   *
   * @return one of the constants of {@link Opcode}
   */
  public int opcode() {
    return IbvOps.readInt(readOpcode, reading());
  }

  /**
   * How much was received, read or fetched ({@code ibv_wc_read_byte_len}).
   *
   * @return a number of bytes
   */
  public long bytes() {
    return IbvOps.readInt(readByteLen, reading()) & 0xffffffffL;
  }

  /**
   * Whether an immediate word came with it ({@code ibv_wc_read_wc_flags}).
   *
   * @return whether there is one
   */
  public boolean hasImmediate() {
    return (IbvOps.readInt(readWcFlags, reading()) & VerbsConstants.IBV_WC_WITH_IMM) != 0;
  }

  /**
   * The immediate word ({@code ibv_wc_read_imm_data}).
   *
   * @return 32 bits
   */
  public int immediate() {
    return Bits.networkInt(IbvOps.readInt(readImmData, reading()));
  }

  /**
   * Which queue pair of this host it happened to ({@code ibv_wc_read_qp_num}).
   *
   * @return its number
   */
  public int queuePairNumber() {
    return IbvOps.readInt(readQpNum, reading());
  }

  /**
   * The queue pair that has sent a datagram ({@code ibv_wc_read_src_qp}).
   *
   * @return the number of its queue pair
   */
  public int sourceQueuePair() {
    return IbvOps.readInt(readSrcQp, reading());
  }

  /**
   * What the device says about a failure ({@code ibv_wc_read_vendor_err}).
   *
   * @return a number for the vendor
   */
  public int vendorError() {
    return IbvOps.readInt(readVendorErr, reading());
  }

  /**
   * When it was done ({@code ibv_wc_read_completion_ts}).
   *
   * @return ticks of the device's clock; see {@link DeviceAttributes#clockKilohertz}
   * @throws IllegalStateException if the queue was opened without timestamps
   */
  public long timestamp() {
    if (!timestamps) {
      throw new IllegalStateException("the completion queue was opened without timestamps");
    }
    return IbvOps.readLong(readCompletionTs, reading());
  }
}
