// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NativeLibrary;
import io.talaria.ffi.Raw;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The functions that {@code verbs.h} has as inline code: they call a pointer of the context or of
 * the object. One constant handle for each signature; the pointer is an argument that the caller
 * keeps in a final field, made by {@link #pointer}. Nothing is checked here.
 *
 * <p>Posting, polling and asking for an event are critical calls: they neither block nor call back.
 * Results are as the libraries give them: of posting an error number, of polling a number of
 * entries.
 */
public final class IbvOps {
  private static final MethodHandle INT_L =
      NativeLibrary.pointerCritical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  private static final MethodHandle INT_LI =
      NativeLibrary.pointerCritical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
  private static final MethodHandle INT_LLL =
      NativeLibrary.pointerCritical(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle INT_LIL =
      NativeLibrary.pointerCritical(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle INT_LL =
      NativeLibrary.pointerCritical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle VOID_L =
      NativeLibrary.pointerCritical(FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle VOID_LI =
      NativeLibrary.pointerCritical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  private static final MethodHandle VOID_LIL =
      NativeLibrary.pointerCritical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle VOID_LILI =
      NativeLibrary.pointerCritical(
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
  private static final MethodHandle VOID_LILL =
      NativeLibrary.pointerCritical(
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle VOID_LILLL =
      NativeLibrary.pointerCritical(
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle VOID_LLII =
      NativeLibrary.pointerCritical(
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
  private static final MethodHandle VOID_LLL =
      NativeLibrary.pointerCritical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle VOID_LLIL =
      NativeLibrary.pointerCritical(
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle LONG_L =
      NativeLibrary.pointerCritical(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle BYTE_L =
      NativeLibrary.pointerCritical(FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle INT_LIL_PLAIN =
      NativeLibrary.pointerPlain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle INT_LL_PLAIN =
      NativeLibrary.pointerPlain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

  private static final int EOPNOTSUPP = 95;

  private IbvOps() {}

  /**
   * A pointer to call.
   *
   * @param address of a function
   * @return what the methods here take
   */
  public static MemorySegment pointer(long address) {
    return MemorySegment.ofAddress(address);
  }

  /**
   * A pointer that a structure holds.
   *
   * @param field where it is
   * @return what the methods here take; of address 0 if there is none
   */
  public static MemorySegment pointerAt(long field) {
    return pointer(Raw.word(field));
  }

  /**
   * {@code ibv_post_send}, {@code ibv_post_recv}, {@code ibv_post_srq_recv}: 0 or an error number.
   */
  public static int post(MemorySegment f, long queue, long request, long failed) {
    try {
      return (int) INT_LLL.invokeExact(f, queue, request, failed);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_poll_cq}: a number of entries, negative on failure. */
  public static int pollCq(MemorySegment f, long cq, int entries, long wc) {
    try {
      return (int) INT_LIL.invokeExact(f, cq, entries, wc);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@link #pollCq} with a safepoint. */
  public static int pollCqPlain(MemorySegment f, long cq, int entries, long wc) {
    try {
      return (int) INT_LIL_PLAIN.invokeExact(f, cq, entries, wc);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_req_notify_cq}: 0 or an error number. */
  public static int reqNotifyCq(MemorySegment f, long cq, int solicitedOnly) {
    try {
      return (int) INT_LI.invokeExact(f, cq, solicitedOnly);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_start_poll}: 0, ENOENT or another error number. */
  public static int startPoll(MemorySegment f, long cq, long attr) {
    try {
      return (int) INT_LL.invokeExact(f, cq, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@link #startPoll} with a safepoint. */
  public static int startPollPlain(MemorySegment f, long cq, long attr) {
    try {
      return (int) INT_LL_PLAIN.invokeExact(f, cq, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_next_poll}: 0, ENOENT or another error number. */
  public static int nextPoll(MemorySegment f, long cq) {
    try {
      return (int) INT_L.invokeExact(f, cq);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_end_poll}. */
  public static void endPoll(MemorySegment f, long cq) {
    try {
      VOID_L.invokeExact(f, cq);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wc_read_opcode} and others of 32 bits. */
  public static int readInt(MemorySegment f, long cq) {
    try {
      return (int) INT_L.invokeExact(f, cq);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wc_read_completion_ts} and others of 64 bits. */
  public static long readLong(MemorySegment f, long cq) {
    try {
      return (long) LONG_L.invokeExact(f, cq);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wc_read_sl} and others of 8 bits. */
  public static byte readByte(MemorySegment f, long cq) {
    try {
      return (byte) BYTE_L.invokeExact(f, cq);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_start}, {@code ibv_wr_send}, {@code ibv_wr_abort}. */
  public static void wrStart(MemorySegment f, long qp) {
    try {
      VOID_L.invokeExact(f, qp);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_complete}: 0 or an error number. */
  public static int wrComplete(MemorySegment f, long qp) {
    try {
      return (int) INT_L.invokeExact(f, qp);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_send_imm}, {@code ibv_wr_send_inv}, {@code ibv_wr_local_inv}. */
  public static void wrValue(MemorySegment f, long qp, int value) {
    try {
      VOID_LI.invokeExact(f, qp, value);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_rdma_read}, {@code ibv_wr_rdma_write}. */
  public static void wrRemote(MemorySegment f, long qp, int rkey, long address) {
    try {
      VOID_LIL.invokeExact(f, qp, rkey, address);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_rdma_write_imm}. */
  public static void wrRemoteImm(MemorySegment f, long qp, int rkey, long address, int immediate) {
    try {
      VOID_LILI.invokeExact(f, qp, rkey, address, immediate);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_atomic_fetch_add}. */
  public static void wrFetchAdd(MemorySegment f, long qp, int rkey, long address, long add) {
    try {
      VOID_LILL.invokeExact(f, qp, rkey, address, add);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_atomic_cmp_swp}. */
  public static void wrCompareSwap(
      MemorySegment f, long qp, int rkey, long address, long compare, long swap) {
    try {
      VOID_LILLL.invokeExact(f, qp, rkey, address, compare, swap);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_set_ud_addr}. */
  public static void wrSetUdAddr(MemorySegment f, long qp, long ah, int number, int key) {
    try {
      VOID_LLII.invokeExact(f, qp, ah, number, key);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_set_inline_data}, {@code ibv_wr_set_sge_list}. */
  public static void wrSetInlineData(MemorySegment f, long qp, long address, long length) {
    try {
      VOID_LLL.invokeExact(f, qp, address, length);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_bind_mw}. */
  public static void wrBindMw(MemorySegment f, long qp, long mw, int rkey, long info) {
    try {
      VOID_LLIL.invokeExact(f, qp, mw, rkey, info);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_wr_set_sge}. */
  public static void wrSetSge(MemorySegment f, long qp, int lkey, long address, int length) {
    try {
      VOID_LILI.invokeExact(f, qp, lkey, address, length);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ibv_query_port} with our own length; the symbol would fill the old structure. */
  public static int queryPort(long context, int port, long attr, long attrSize) {
    long f = VerbsContext.function(context, VerbsContext.QUERY_PORT);
    return f == 0
        ? Ibv.queryPort(context, port, attr)
        : Calls.status(pointer(f), context, port, attr, attrSize);
  }

  /** {@code ibv_query_device_ex}. */
  public static int queryDeviceEx(long context, long attr, long attrSize) {
    long f = VerbsContext.function(context, VerbsContext.QUERY_DEVICE_EX);
    return f == 0 ? -EOPNOTSUPP : Calls.status(pointer(f), context, 0, attr, attrSize);
  }

  /** {@code ibv_create_cq_ex}. */
  public static long createCqEx(long context, long attr) {
    long f = VerbsContext.function(context, VerbsContext.CREATE_CQ_EX);
    return f == 0 ? -EOPNOTSUPP : Calls.pointer(pointer(f), context, attr);
  }

  /** {@code ibv_create_qp_ex}. */
  public static long createQpEx(long context, long attr) {
    long f = VerbsContext.function(context, VerbsContext.CREATE_QP_EX);
    return f == 0 ? -EOPNOTSUPP : Calls.pointer(pointer(f), context, attr);
  }

  /** {@code ibv_modify_cq}. */
  public static int modifyCq(long context, long cq, long attr) {
    long f = VerbsContext.function(context, VerbsContext.MODIFY_CQ);
    return f == 0 ? -EOPNOTSUPP : Calls.status(pointer(f), cq, attr);
  }

  /** {@code ibv_advise_mr}. */
  public static int adviseMr(
      long context, long pd, long advice, long flags, long list, long count) {
    long f = VerbsContext.function(context, VerbsContext.ADVISE_MR);
    return f == 0 ? -EOPNOTSUPP : Calls.status(pointer(f), pd, advice, flags, list, count);
  }

  /** {@code ibv_get_srq_num}. */
  public static int getSrqNum(long context, long srq, long number) {
    long f = VerbsContext.function(context, VerbsContext.GET_SRQ_NUM);
    return f == 0 ? -EOPNOTSUPP : Calls.status(pointer(f), srq, number);
  }

  /** {@code ibv_alloc_mw}. */
  public static long allocMw(long context, long pd, long type) {
    long f = Raw.word(context + VerbsStructs.Context.OPS + VerbsStructs.ContextOps.ALLOC_MW);
    return f == 0 ? -EOPNOTSUPP : Calls.pointer(pointer(f), pd, type);
  }

  /** {@code ibv_dealloc_mw}. */
  public static int deallocMw(long context, long mw) {
    long f = Raw.word(context + VerbsStructs.Context.OPS + VerbsStructs.ContextOps.DEALLOC_MW);
    return f == 0 ? -EOPNOTSUPP : Calls.status(pointer(f), mw);
  }

  /** {@code ibv_bind_mw} after its checks. */
  public static int bindMw(long context, long qp, long mw, long bind) {
    long f = Raw.word(context + VerbsStructs.Context.OPS + VerbsStructs.ContextOps.BIND_MW);
    return f == 0 ? -EOPNOTSUPP : Calls.status(pointer(f), qp, mw, bind);
  }
}
