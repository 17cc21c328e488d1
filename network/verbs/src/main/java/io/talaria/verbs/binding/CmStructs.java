// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.ffi.CStruct;
import java.util.List;

/**
 * The structures of {@code rdma_cma.h}: offsets and sizes, under their names in C. A test compares
 * each with the installed headers. Where C has a union, the fields stand for its largest member.
 */
public final class CmStructs {
  /** {@code struct rdma_event_channel}. */
  public static final class EventChannel {
    public static final CStruct STRUCT =
        CStruct.named("struct rdma_event_channel").int32("fd").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FD = STRUCT.offset("fd");

    private EventChannel() {}
  }

  /** {@code struct rdma_cm_id}. */
  public static final class CmId {
    public static final CStruct STRUCT =
        CStruct.named("struct rdma_cm_id")
            .pointer("verbs")
            .pointer("channel")
            .pointer("context")
            .pointer("qp")
            .words("route.addr.src_storage", 128)
            .words("route.addr.dst_storage", 128)
            .words("route.addr.addr.ibaddr.sgid", 16)
            .words("route.addr.addr.ibaddr.dgid", 16)
            .int16("route.addr.addr.ibaddr.pkey")
            .pointer("route.path_rec")
            .words("route.num_paths", 8)
            .int32("ps")
            .int8("port_num")
            .pointer("event")
            .pointer("send_cq_channel")
            .pointer("send_cq")
            .pointer("recv_cq_channel")
            .pointer("recv_cq")
            .pointer("srq")
            .pointer("pd")
            .int32("qp_type")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long VERBS = STRUCT.offset("verbs");
    public static final long CHANNEL = STRUCT.offset("channel");
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long QP = STRUCT.offset("qp");
    public static final long ROUTE_ADDR_SRC_STORAGE = STRUCT.offset("route.addr.src_storage");
    public static final long ROUTE_ADDR_DST_STORAGE = STRUCT.offset("route.addr.dst_storage");
    public static final long ROUTE_ADDR_ADDR_IBADDR_SGID =
        STRUCT.offset("route.addr.addr.ibaddr.sgid");
    public static final long ROUTE_ADDR_ADDR_IBADDR_DGID =
        STRUCT.offset("route.addr.addr.ibaddr.dgid");
    public static final long ROUTE_ADDR_ADDR_IBADDR_PKEY =
        STRUCT.offset("route.addr.addr.ibaddr.pkey");
    public static final long ROUTE_PATH_REC = STRUCT.offset("route.path_rec");
    public static final long ROUTE_NUM_PATHS = STRUCT.offset("route.num_paths");
    public static final long PS = STRUCT.offset("ps");
    public static final long PORT_NUM = STRUCT.offset("port_num");
    public static final long EVENT = STRUCT.offset("event");
    public static final long SEND_CQ_CHANNEL = STRUCT.offset("send_cq_channel");
    public static final long SEND_CQ = STRUCT.offset("send_cq");
    public static final long RECV_CQ_CHANNEL = STRUCT.offset("recv_cq_channel");
    public static final long RECV_CQ = STRUCT.offset("recv_cq");
    public static final long SRQ = STRUCT.offset("srq");
    public static final long PD = STRUCT.offset("pd");
    public static final long QP_TYPE = STRUCT.offset("qp_type");

    private CmId() {}
  }

  /** {@code struct rdma_conn_param}. */
  public static final class ConnParam {
    public static final CStruct STRUCT =
        CStruct.named("struct rdma_conn_param")
            .pointer("private_data")
            .int8("private_data_len")
            .int8("responder_resources")
            .int8("initiator_depth")
            .int8("flow_control")
            .int8("retry_count")
            .int8("rnr_retry_count")
            .int8("srq")
            .int32("qp_num")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long PRIVATE_DATA = STRUCT.offset("private_data");
    public static final long PRIVATE_DATA_LEN = STRUCT.offset("private_data_len");
    public static final long RESPONDER_RESOURCES = STRUCT.offset("responder_resources");
    public static final long INITIATOR_DEPTH = STRUCT.offset("initiator_depth");
    public static final long FLOW_CONTROL = STRUCT.offset("flow_control");
    public static final long RETRY_COUNT = STRUCT.offset("retry_count");
    public static final long RNR_RETRY_COUNT = STRUCT.offset("rnr_retry_count");
    public static final long SRQ = STRUCT.offset("srq");
    public static final long QP_NUM = STRUCT.offset("qp_num");

    private ConnParam() {}
  }

  /** {@code struct rdma_ud_param}. */
  public static final class UdParam {
    public static final CStruct STRUCT =
        CStruct.named("struct rdma_ud_param")
            .pointer("private_data")
            .int8("private_data_len")
            .struct("ah_attr", VerbsStructs.AhAttr.STRUCT)
            .int32("qp_num")
            .int32("qkey")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long PRIVATE_DATA = STRUCT.offset("private_data");
    public static final long PRIVATE_DATA_LEN = STRUCT.offset("private_data_len");
    public static final long AH_ATTR = STRUCT.offset("ah_attr");
    public static final long QP_NUM = STRUCT.offset("qp_num");
    public static final long QKEY = STRUCT.offset("qkey");

    private UdParam() {}
  }

  /** {@code struct rdma_cm_event}. */
  public static final class CmEvent {
    public static final CStruct STRUCT =
        CStruct.named("struct rdma_cm_event")
            .pointer("id")
            .pointer("listen_id")
            .int32("event")
            .int32("status")
            .struct("param.ud", UdParam.STRUCT)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long ID = STRUCT.offset("id");
    public static final long LISTEN_ID = STRUCT.offset("listen_id");
    public static final long EVENT = STRUCT.offset("event");
    public static final long STATUS = STRUCT.offset("status");
    public static final long PARAM_UD = STRUCT.offset("param.ud");

    private CmEvent() {}
  }

  private CmStructs() {}

  /** Those whose length is the same in all releases. */
  static List<CStruct> fixed() {
    return List.of(
        EventChannel.STRUCT, CmId.STRUCT, ConnParam.STRUCT, UdParam.STRUCT, CmEvent.STRUCT);
  }
}
