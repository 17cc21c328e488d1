// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NativeLibrary;

/**
 * The functions that librdmacm exports, one method each, under their names without {@code rdma_}.
 * Nothing is checked here; results are as in {@link Ibv}.
 */
public final class RdmaCm {
  private static final NativeLibrary CM = CmLibrary.required();

  private static final CFunction RDMA_CREATE_EVENT_CHANNEL =
      CFunction.of(CM, "rdma_create_event_channel");
  private static final CFunction RDMA_DESTROY_EVENT_CHANNEL =
      CFunction.of(CM, "rdma_destroy_event_channel");
  private static final CFunction RDMA_CREATE_ID = CFunction.of(CM, "rdma_create_id");
  private static final CFunction RDMA_DESTROY_ID = CFunction.of(CM, "rdma_destroy_id");
  private static final CFunction RDMA_BIND_ADDR = CFunction.of(CM, "rdma_bind_addr");
  private static final CFunction RDMA_RESOLVE_ADDR = CFunction.of(CM, "rdma_resolve_addr");
  private static final CFunction RDMA_RESOLVE_ROUTE = CFunction.of(CM, "rdma_resolve_route");
  private static final CFunction RDMA_CREATE_QP = CFunction.of(CM, "rdma_create_qp");
  private static final CFunction RDMA_DESTROY_QP = CFunction.of(CM, "rdma_destroy_qp");
  private static final CFunction RDMA_CONNECT = CFunction.of(CM, "rdma_connect");
  private static final CFunction RDMA_ESTABLISH = CFunction.of(CM, "rdma_establish");
  private static final CFunction RDMA_LISTEN = CFunction.of(CM, "rdma_listen");
  private static final CFunction RDMA_ACCEPT = CFunction.of(CM, "rdma_accept");
  private static final CFunction RDMA_REJECT = CFunction.of(CM, "rdma_reject");
  private static final CFunction RDMA_NOTIFY = CFunction.of(CM, "rdma_notify");
  private static final CFunction RDMA_DISCONNECT = CFunction.of(CM, "rdma_disconnect");
  private static final CFunction RDMA_JOIN_MULTICAST = CFunction.of(CM, "rdma_join_multicast");
  private static final CFunction RDMA_LEAVE_MULTICAST = CFunction.of(CM, "rdma_leave_multicast");
  private static final CFunction RDMA_GET_CM_EVENT = CFunction.of(CM, "rdma_get_cm_event");
  private static final CFunction RDMA_ACK_CM_EVENT = CFunction.of(CM, "rdma_ack_cm_event");
  private static final CFunction RDMA_GET_SRC_PORT = CFunction.of(CM, "rdma_get_src_port");
  private static final CFunction RDMA_GET_DST_PORT = CFunction.of(CM, "rdma_get_dst_port");
  private static final CFunction RDMA_GET_DEVICES = CFunction.of(CM, "rdma_get_devices");
  private static final CFunction RDMA_FREE_DEVICES = CFunction.of(CM, "rdma_free_devices");
  private static final CFunction RDMA_EVENT_STR = CFunction.of(CM, "rdma_event_str");
  private static final CFunction RDMA_SET_OPTION = CFunction.of(CM, "rdma_set_option");
  private static final CFunction RDMA_MIGRATE_ID = CFunction.of(CM, "rdma_migrate_id");
  private static final CFunction RDMA_INIT_QP_ATTR = CFunction.of(CM, "rdma_init_qp_attr");

  private RdmaCm() {}

  public static long createEventChannel() {
    return Calls.pointer(RDMA_CREATE_EVENT_CHANNEL.address());
  }

  public static void destroyEventChannel(long channel) {
    long ignored = Calls.word(RDMA_DESTROY_EVENT_CHANNEL.address(), channel);
  }

  public static int createId(long channel, long id, long context, long space) {
    return Calls.status(RDMA_CREATE_ID.address(), channel, id, context, space);
  }

  public static int destroyId(long id) {
    return Calls.status(RDMA_DESTROY_ID.address(), id);
  }

  public static int bindAddr(long id, long address) {
    return Calls.status(RDMA_BIND_ADDR.address(), id, address);
  }

  public static int resolveAddr(long id, long source, long destination, long timeoutMs) {
    return Calls.status(RDMA_RESOLVE_ADDR.address(), id, source, destination, timeoutMs);
  }

  public static int resolveRoute(long id, long timeoutMs) {
    return Calls.status(RDMA_RESOLVE_ROUTE.address(), id, timeoutMs);
  }

  public static int createQp(long id, long pd, long attr) {
    return Calls.status(RDMA_CREATE_QP.address(), id, pd, attr);
  }

  public static void destroyQp(long id) {
    long ignored = Calls.word(RDMA_DESTROY_QP.address(), id);
  }

  public static int connect(long id, long param) {
    return Calls.status(RDMA_CONNECT.address(), id, param);
  }

  public static int establish(long id) {
    return Calls.status(RDMA_ESTABLISH.address(), id);
  }

  public static int listen(long id, long backlog) {
    return Calls.status(RDMA_LISTEN.address(), id, backlog);
  }

  public static int accept(long id, long param) {
    return Calls.status(RDMA_ACCEPT.address(), id, param);
  }

  public static int reject(long id, long data, long length) {
    return Calls.status(RDMA_REJECT.address(), id, data, length);
  }

  public static int notify(long id, long event) {
    return Calls.status(RDMA_NOTIFY.address(), id, event);
  }

  public static int disconnect(long id) {
    return Calls.status(RDMA_DISCONNECT.address(), id);
  }

  public static int joinMulticast(long id, long address, long context) {
    return Calls.status(RDMA_JOIN_MULTICAST.address(), id, address, context);
  }

  public static int leaveMulticast(long id, long address) {
    return Calls.status(RDMA_LEAVE_MULTICAST.address(), id, address);
  }

  public static int getCmEvent(long channel, long event) {
    return Calls.status(RDMA_GET_CM_EVENT.address(), channel, event);
  }

  public static int ackCmEvent(long event) {
    return Calls.status(RDMA_ACK_CM_EVENT.address(), event);
  }

  public static long getSrcPort(long id) {
    return Calls.word(RDMA_GET_SRC_PORT.address(), id);
  }

  public static long getDstPort(long id) {
    return Calls.word(RDMA_GET_DST_PORT.address(), id);
  }

  public static long getDevices(long count) {
    return Calls.pointer(RDMA_GET_DEVICES.address(), count);
  }

  public static void freeDevices(long list) {
    long ignored = Calls.word(RDMA_FREE_DEVICES.address(), list);
  }

  public static String eventStr(long event) {
    long text = Calls.word(RDMA_EVENT_STR.address(), event);
    return text == 0 ? "" : Libc.string(text);
  }

  public static int setOption(long id, long level, long option, long value, long length) {
    return Calls.status(RDMA_SET_OPTION.address(), id, level, option, value, length);
  }

  public static int migrateId(long id, long channel) {
    return Calls.status(RDMA_MIGRATE_ID.address(), id, channel);
  }

  public static int initQpAttr(long id, long attr, long mask) {
    return Calls.status(RDMA_INIT_QP_ATTR.address(), id, attr, mask);
  }
}
