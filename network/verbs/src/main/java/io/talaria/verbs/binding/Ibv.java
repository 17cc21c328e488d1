// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NativeLibrary;
import io.talaria.ffi.Raw;
import java.lang.foreign.MemorySegment;

/**
 * The functions that libibverbs exports, one method each, under their names without {@code ibv_}.
 *
 * <p>Nothing is checked here. Pointers, handles and {@code size_t} are longs. A status is 0 or a
 * negated error number; so is a pointer that would be NULL. A function that the library lacks
 * throws {@link io.talaria.ffi.MissingSymbolException}.
 */
public final class Ibv {
  private static final NativeLibrary VERBS = VerbsLibrary.required();

  private static final CFunction IBV_GET_DEVICE_LIST = CFunction.of(VERBS, "ibv_get_device_list");
  private static final CFunction IBV_FREE_DEVICE_LIST = CFunction.of(VERBS, "ibv_free_device_list");
  private static final CFunction IBV_GET_DEVICE_NAME = CFunction.of(VERBS, "ibv_get_device_name");
  private static final CFunction IBV_GET_DEVICE_INDEX = CFunction.of(VERBS, "ibv_get_device_index");
  private static final CFunction IBV_GET_DEVICE_GUID = CFunction.of(VERBS, "ibv_get_device_guid");
  private static final CFunction IBV_OPEN_DEVICE = CFunction.of(VERBS, "ibv_open_device");
  private static final CFunction IBV_CLOSE_DEVICE = CFunction.of(VERBS, "ibv_close_device");
  private static final CFunction IBV_IMPORT_DEVICE = CFunction.of(VERBS, "ibv_import_device");
  private static final CFunction IBV_GET_ASYNC_EVENT = CFunction.of(VERBS, "ibv_get_async_event");
  private static final CFunction IBV_ACK_ASYNC_EVENT = CFunction.of(VERBS, "ibv_ack_async_event");
  private static final CFunction IBV_QUERY_DEVICE = CFunction.of(VERBS, "ibv_query_device");
  private static final CFunction IBV_QUERY_PORT = CFunction.of(VERBS, "ibv_query_port");
  private static final CFunction IBV_QUERY_GID = CFunction.of(VERBS, "ibv_query_gid");
  private static final CFunction IBV_QUERY_GID_EX = CFunction.of(VERBS, "_ibv_query_gid_ex");
  private static final CFunction IBV_QUERY_PKEY = CFunction.of(VERBS, "ibv_query_pkey");
  private static final CFunction IBV_GET_PKEY_INDEX = CFunction.of(VERBS, "ibv_get_pkey_index");
  private static final CFunction IBV_ALLOC_PD = CFunction.of(VERBS, "ibv_alloc_pd");
  private static final CFunction IBV_DEALLOC_PD = CFunction.of(VERBS, "ibv_dealloc_pd");
  private static final CFunction IBV_REG_MR = CFunction.of(VERBS, "ibv_reg_mr");
  private static final CFunction IBV_REG_MR_IOVA2 = CFunction.of(VERBS, "ibv_reg_mr_iova2");
  private static final CFunction IBV_DEREG_MR = CFunction.of(VERBS, "ibv_dereg_mr");
  private static final CFunction IBV_REREG_MR = CFunction.of(VERBS, "ibv_rereg_mr");
  private static final CFunction IBV_CREATE_COMP_CHANNEL =
      CFunction.of(VERBS, "ibv_create_comp_channel");
  private static final CFunction IBV_DESTROY_COMP_CHANNEL =
      CFunction.of(VERBS, "ibv_destroy_comp_channel");
  private static final CFunction IBV_CREATE_CQ = CFunction.of(VERBS, "ibv_create_cq");
  private static final CFunction IBV_RESIZE_CQ = CFunction.of(VERBS, "ibv_resize_cq");
  private static final CFunction IBV_DESTROY_CQ = CFunction.of(VERBS, "ibv_destroy_cq");
  private static final CFunction IBV_GET_CQ_EVENT = CFunction.of(VERBS, "ibv_get_cq_event");
  private static final CFunction IBV_ACK_CQ_EVENTS = CFunction.of(VERBS, "ibv_ack_cq_events");
  private static final CFunction IBV_CREATE_SRQ = CFunction.of(VERBS, "ibv_create_srq");
  private static final CFunction IBV_MODIFY_SRQ = CFunction.of(VERBS, "ibv_modify_srq");
  private static final CFunction IBV_QUERY_SRQ = CFunction.of(VERBS, "ibv_query_srq");
  private static final CFunction IBV_DESTROY_SRQ = CFunction.of(VERBS, "ibv_destroy_srq");
  private static final CFunction IBV_CREATE_QP = CFunction.of(VERBS, "ibv_create_qp");
  private static final CFunction IBV_QP_TO_QP_EX = CFunction.of(VERBS, "ibv_qp_to_qp_ex");
  private static final CFunction IBV_MODIFY_QP = CFunction.of(VERBS, "ibv_modify_qp");
  private static final CFunction IBV_QUERY_QP = CFunction.of(VERBS, "ibv_query_qp");
  private static final CFunction IBV_DESTROY_QP = CFunction.of(VERBS, "ibv_destroy_qp");
  private static final CFunction IBV_QUERY_QP_DATA_IN_ORDER =
      CFunction.of(VERBS, "ibv_query_qp_data_in_order");
  private static final CFunction IBV_CREATE_AH = CFunction.of(VERBS, "ibv_create_ah");
  private static final CFunction IBV_INIT_AH_FROM_WC = CFunction.of(VERBS, "ibv_init_ah_from_wc");
  private static final CFunction IBV_DESTROY_AH = CFunction.of(VERBS, "ibv_destroy_ah");
  private static final CFunction IBV_ATTACH_MCAST = CFunction.of(VERBS, "ibv_attach_mcast");
  private static final CFunction IBV_DETACH_MCAST = CFunction.of(VERBS, "ibv_detach_mcast");
  private static final CFunction IBV_FORK_INIT = CFunction.of(VERBS, "ibv_fork_init");
  private static final CFunction IBV_IS_FORK_INITIALIZED =
      CFunction.of(VERBS, "ibv_is_fork_initialized");
  private static final CFunction IBV_WC_STATUS_STR = CFunction.of(VERBS, "ibv_wc_status_str");
  private static final CFunction IBV_NODE_TYPE_STR = CFunction.of(VERBS, "ibv_node_type_str");
  private static final CFunction IBV_PORT_STATE_STR = CFunction.of(VERBS, "ibv_port_state_str");
  private static final CFunction IBV_EVENT_TYPE_STR = CFunction.of(VERBS, "ibv_event_type_str");
  private static final CFunction IBV_RATE_TO_MBPS = CFunction.of(VERBS, "ibv_rate_to_mbps");

  private Ibv() {}

  public static long getDeviceList(long count) {
    return Calls.pointer(IBV_GET_DEVICE_LIST.address(), count);
  }

  public static void freeDeviceList(long list) {
    long ignored = Calls.word(IBV_FREE_DEVICE_LIST.address(), list);
  }

  public static String getDeviceName(long device) {
    long text = Calls.word(IBV_GET_DEVICE_NAME.address(), device);
    return text == 0 ? "" : Libc.string(text);
  }

  public static int getDeviceIndex(long device) {
    return Calls.count(IBV_GET_DEVICE_INDEX.address(), device);
  }

  public static long getDeviceGuid(long device) {
    return Calls.word(IBV_GET_DEVICE_GUID.address(), device);
  }

  public static long openDevice(long device) {
    return Calls.pointer(IBV_OPEN_DEVICE.address(), device);
  }

  public static int closeDevice(long context) {
    return Calls.status(IBV_CLOSE_DEVICE.address(), context);
  }

  public static long importDevice(long fd) {
    return Calls.pointer(IBV_IMPORT_DEVICE.address(), fd);
  }

  public static int getAsyncEvent(long context, long event) {
    return Calls.status(IBV_GET_ASYNC_EVENT.address(), context, event);
  }

  public static void ackAsyncEvent(long event) {
    long ignored = Calls.word(IBV_ACK_ASYNC_EVENT.address(), event);
  }

  public static int queryDevice(long context, long attr) {
    return Calls.status(IBV_QUERY_DEVICE.address(), context, attr);
  }

  public static int queryPort(long context, long port, long attr) {
    return Calls.status(IBV_QUERY_PORT.address(), context, port, attr);
  }

  public static int queryGid(long context, long port, long index, long gid) {
    return Calls.status(IBV_QUERY_GID.address(), context, port, index, gid);
  }

  public static int queryGidEx(
      long context, long port, long index, long entry, long flags, long entrySize) {
    return Calls.status(IBV_QUERY_GID_EX.address(), context, port, index, entry, flags, entrySize);
  }

  public static int queryPkey(long context, long port, long index, long pkey) {
    return Calls.status(IBV_QUERY_PKEY.address(), context, port, index, pkey);
  }

  public static int getPkeyIndex(long context, long port, long pkey) {
    return Calls.count(IBV_GET_PKEY_INDEX.address(), context, port, pkey);
  }

  public static long allocPd(long context) {
    return Calls.pointer(IBV_ALLOC_PD.address(), context);
  }

  public static int deallocPd(long pd) {
    return Calls.status(IBV_DEALLOC_PD.address(), pd);
  }

  public static long regMr(long pd, long address, long length, long access) {
    return Calls.pointer(IBV_REG_MR.address(), pd, address, length, access);
  }

  public static long regMrIova2(long pd, long address, long length, long iova, long access) {
    return Calls.pointer(IBV_REG_MR_IOVA2.address(), pd, address, length, iova, access);
  }

  public static int deregMr(long mr) {
    return Calls.status(IBV_DEREG_MR.address(), mr);
  }

  public static int reregMr(long mr, long flags, long pd, long address, long length, long access) {
    return Calls.count(IBV_REREG_MR.address(), mr, flags, pd, address, length, access);
  }

  public static long createCompChannel(long context) {
    return Calls.pointer(IBV_CREATE_COMP_CHANNEL.address(), context);
  }

  public static int destroyCompChannel(long channel) {
    return Calls.status(IBV_DESTROY_COMP_CHANNEL.address(), channel);
  }

  public static long createCq(
      long context, long entries, long userContext, long channel, long vector) {
    return Calls.pointer(IBV_CREATE_CQ.address(), context, entries, userContext, channel, vector);
  }

  public static int resizeCq(long cq, long entries) {
    return Calls.status(IBV_RESIZE_CQ.address(), cq, entries);
  }

  public static int destroyCq(long cq) {
    return Calls.status(IBV_DESTROY_CQ.address(), cq);
  }

  public static int getCqEvent(long channel, long cq, long userContext) {
    return Calls.status(IBV_GET_CQ_EVENT.address(), channel, cq, userContext);
  }

  public static void ackCqEvents(long cq, long count) {
    long ignored = Calls.word(IBV_ACK_CQ_EVENTS.address(), cq, count);
  }

  /** Takes an event and acknowledges it, without allocating; both places are the caller's. */
  public static int dropCqEvent(long channel, long out, MemorySegment errno) {
    int status = Calls.status(IBV_GET_CQ_EVENT.address(), errno, channel, out, out + Long.BYTES);
    if (status == 0) {
      Calls.nothing(IBV_ACK_CQ_EVENTS.address(), errno, Raw.word(out), 1);
    }
    return status;
  }

  public static long createSrq(long pd, long attr) {
    return Calls.pointer(IBV_CREATE_SRQ.address(), pd, attr);
  }

  public static int modifySrq(long srq, long attr, long mask) {
    return Calls.status(IBV_MODIFY_SRQ.address(), srq, attr, mask);
  }

  public static int querySrq(long srq, long attr) {
    return Calls.status(IBV_QUERY_SRQ.address(), srq, attr);
  }

  public static int destroySrq(long srq) {
    return Calls.status(IBV_DESTROY_SRQ.address(), srq);
  }

  public static long createQp(long pd, long attr) {
    return Calls.pointer(IBV_CREATE_QP.address(), pd, attr);
  }

  public static long qpToQpEx(long qp) {
    return Calls.pointer(IBV_QP_TO_QP_EX.address(), qp);
  }

  public static int modifyQp(long qp, long attr, long mask) {
    return Calls.status(IBV_MODIFY_QP.address(), qp, attr, mask);
  }

  public static int queryQp(long qp, long attr, long mask, long initAttr) {
    return Calls.status(IBV_QUERY_QP.address(), qp, attr, mask, initAttr);
  }

  public static int destroyQp(long qp) {
    return Calls.status(IBV_DESTROY_QP.address(), qp);
  }

  public static int queryQpDataInOrder(long qp, long opcode, long flags) {
    return Calls.count(IBV_QUERY_QP_DATA_IN_ORDER.address(), qp, opcode, flags);
  }

  public static long createAh(long pd, long attr) {
    return Calls.pointer(IBV_CREATE_AH.address(), pd, attr);
  }

  public static int initAhFromWc(long context, long port, long wc, long grh, long attr) {
    return Calls.status(IBV_INIT_AH_FROM_WC.address(), context, port, wc, grh, attr);
  }

  public static int destroyAh(long ah) {
    return Calls.status(IBV_DESTROY_AH.address(), ah);
  }

  public static int attachMcast(long qp, long gid, long lid) {
    return Calls.status(IBV_ATTACH_MCAST.address(), qp, gid, lid);
  }

  public static int detachMcast(long qp, long gid, long lid) {
    return Calls.status(IBV_DETACH_MCAST.address(), qp, gid, lid);
  }

  public static int forkInit() {
    return Calls.status(IBV_FORK_INIT.address());
  }

  public static int isForkInitialized() {
    return Calls.count(IBV_IS_FORK_INITIALIZED.address());
  }

  public static String wcStatusStr(long status) {
    long text = Calls.word(IBV_WC_STATUS_STR.address(), status);
    return text == 0 ? "" : Libc.string(text);
  }

  public static String nodeTypeStr(long type) {
    long text = Calls.word(IBV_NODE_TYPE_STR.address(), type);
    return text == 0 ? "" : Libc.string(text);
  }

  public static String portStateStr(long state) {
    long text = Calls.word(IBV_PORT_STATE_STR.address(), state);
    return text == 0 ? "" : Libc.string(text);
  }

  public static String eventTypeStr(long event) {
    long text = Calls.word(IBV_EVENT_TYPE_STR.address(), event);
    return text == 0 ? "" : Libc.string(text);
  }

  public static int rateToMbps(long rate) {
    return Calls.count(IBV_RATE_TO_MBPS.address(), rate);
  }
}
