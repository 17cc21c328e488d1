// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.ffi.CStruct;
import java.util.List;

/**
 * The structures of {@code verbs.h}: offsets and sizes, under their names in C. A test compares
 * each with the installed headers. Where C has a union, the fields stand for its largest member.
 */
public final class VerbsStructs {
  /** {@code pthread_mutex_t} of glibc and musl. */
  private static final long MUTEX_BYTES = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;

  /** {@code pthread_cond_t}. */
  private static final long COND_BYTES = 48;

  /** {@code struct ibv_gid_entry}. */
  public static final class GidEntry {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_gid_entry")
            .words("gid", 16)
            .int32("gid_index")
            .int32("port_num")
            .int32("gid_type")
            .int32("ndev_ifindex")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long GID = STRUCT.offset("gid");
    public static final long GID_INDEX = STRUCT.offset("gid_index");
    public static final long PORT_NUM = STRUCT.offset("port_num");
    public static final long GID_TYPE = STRUCT.offset("gid_type");
    public static final long NDEV_IFINDEX = STRUCT.offset("ndev_ifindex");

    private GidEntry() {}
  }

  /** {@code struct ibv_device_attr}. */
  public static final class DeviceAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_device_attr")
            .bytes("fw_ver", 64)
            .int64("node_guid")
            .int64("sys_image_guid")
            .int64("max_mr_size")
            .int64("page_size_cap")
            .int32("vendor_id")
            .int32("vendor_part_id")
            .int32("hw_ver")
            .int32("max_qp")
            .int32("max_qp_wr")
            .int32("device_cap_flags")
            .int32("max_sge")
            .int32("max_sge_rd")
            .int32("max_cq")
            .int32("max_cqe")
            .int32("max_mr")
            .int32("max_pd")
            .int32("max_qp_rd_atom")
            .int32("max_ee_rd_atom")
            .int32("max_res_rd_atom")
            .int32("max_qp_init_rd_atom")
            .int32("max_ee_init_rd_atom")
            .int32("atomic_cap")
            .int32("max_ee")
            .int32("max_rdd")
            .int32("max_mw")
            .int32("max_raw_ipv6_qp")
            .int32("max_raw_ethy_qp")
            .int32("max_mcast_grp")
            .int32("max_mcast_qp_attach")
            .int32("max_total_mcast_qp_attach")
            .int32("max_ah")
            .int32("max_fmr")
            .int32("max_map_per_fmr")
            .int32("max_srq")
            .int32("max_srq_wr")
            .int32("max_srq_sge")
            .int16("max_pkeys")
            .int8("local_ca_ack_delay")
            .int8("phys_port_cnt")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FW_VER = STRUCT.offset("fw_ver");
    public static final long NODE_GUID = STRUCT.offset("node_guid");
    public static final long SYS_IMAGE_GUID = STRUCT.offset("sys_image_guid");
    public static final long MAX_MR_SIZE = STRUCT.offset("max_mr_size");
    public static final long PAGE_SIZE_CAP = STRUCT.offset("page_size_cap");
    public static final long VENDOR_ID = STRUCT.offset("vendor_id");
    public static final long VENDOR_PART_ID = STRUCT.offset("vendor_part_id");
    public static final long HW_VER = STRUCT.offset("hw_ver");
    public static final long MAX_QP = STRUCT.offset("max_qp");
    public static final long MAX_QP_WR = STRUCT.offset("max_qp_wr");
    public static final long DEVICE_CAP_FLAGS = STRUCT.offset("device_cap_flags");
    public static final long MAX_SGE = STRUCT.offset("max_sge");
    public static final long MAX_SGE_RD = STRUCT.offset("max_sge_rd");
    public static final long MAX_CQ = STRUCT.offset("max_cq");
    public static final long MAX_CQE = STRUCT.offset("max_cqe");
    public static final long MAX_MR = STRUCT.offset("max_mr");
    public static final long MAX_PD = STRUCT.offset("max_pd");
    public static final long MAX_QP_RD_ATOM = STRUCT.offset("max_qp_rd_atom");
    public static final long MAX_EE_RD_ATOM = STRUCT.offset("max_ee_rd_atom");
    public static final long MAX_RES_RD_ATOM = STRUCT.offset("max_res_rd_atom");
    public static final long MAX_QP_INIT_RD_ATOM = STRUCT.offset("max_qp_init_rd_atom");
    public static final long MAX_EE_INIT_RD_ATOM = STRUCT.offset("max_ee_init_rd_atom");
    public static final long ATOMIC_CAP = STRUCT.offset("atomic_cap");
    public static final long MAX_EE = STRUCT.offset("max_ee");
    public static final long MAX_RDD = STRUCT.offset("max_rdd");
    public static final long MAX_MW = STRUCT.offset("max_mw");
    public static final long MAX_RAW_IPV6_QP = STRUCT.offset("max_raw_ipv6_qp");
    public static final long MAX_RAW_ETHY_QP = STRUCT.offset("max_raw_ethy_qp");
    public static final long MAX_MCAST_GRP = STRUCT.offset("max_mcast_grp");
    public static final long MAX_MCAST_QP_ATTACH = STRUCT.offset("max_mcast_qp_attach");
    public static final long MAX_TOTAL_MCAST_QP_ATTACH = STRUCT.offset("max_total_mcast_qp_attach");
    public static final long MAX_AH = STRUCT.offset("max_ah");
    public static final long MAX_FMR = STRUCT.offset("max_fmr");
    public static final long MAX_MAP_PER_FMR = STRUCT.offset("max_map_per_fmr");
    public static final long MAX_SRQ = STRUCT.offset("max_srq");
    public static final long MAX_SRQ_WR = STRUCT.offset("max_srq_wr");
    public static final long MAX_SRQ_SGE = STRUCT.offset("max_srq_sge");
    public static final long MAX_PKEYS = STRUCT.offset("max_pkeys");
    public static final long LOCAL_CA_ACK_DELAY = STRUCT.offset("local_ca_ack_delay");
    public static final long PHYS_PORT_CNT = STRUCT.offset("phys_port_cnt");

    private DeviceAttr() {}
  }

  /** {@code struct ibv_device_attr_ex}. */
  public static final class DeviceAttrEx {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_device_attr_ex")
            .struct("orig_attr", DeviceAttr.STRUCT)
            .int32("comp_mask")
            .int64("odp_caps.general_caps")
            .int32("odp_caps.per_transport_caps.rc_odp_caps")
            .int32("odp_caps.per_transport_caps.uc_odp_caps")
            .int32("odp_caps.per_transport_caps.ud_odp_caps")
            .int64("completion_timestamp_mask")
            .int64("hca_core_clock")
            .int64("device_cap_flags_ex")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long ORIG_ATTR = STRUCT.offset("orig_attr");
    public static final long COMP_MASK = STRUCT.offset("comp_mask");
    public static final long ODP_CAPS_GENERAL_CAPS = STRUCT.offset("odp_caps.general_caps");
    public static final long ODP_CAPS_PER_TRANSPORT_CAPS_RC_ODP_CAPS =
        STRUCT.offset("odp_caps.per_transport_caps.rc_odp_caps");
    public static final long ODP_CAPS_PER_TRANSPORT_CAPS_UC_ODP_CAPS =
        STRUCT.offset("odp_caps.per_transport_caps.uc_odp_caps");
    public static final long ODP_CAPS_PER_TRANSPORT_CAPS_UD_ODP_CAPS =
        STRUCT.offset("odp_caps.per_transport_caps.ud_odp_caps");
    public static final long COMPLETION_TIMESTAMP_MASK = STRUCT.offset("completion_timestamp_mask");
    public static final long HCA_CORE_CLOCK = STRUCT.offset("hca_core_clock");
    public static final long DEVICE_CAP_FLAGS_EX = STRUCT.offset("device_cap_flags_ex");

    private DeviceAttrEx() {}
  }

  /** {@code struct ibv_port_attr}. */
  public static final class PortAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_port_attr")
            .int32("state")
            .int32("max_mtu")
            .int32("active_mtu")
            .int32("gid_tbl_len")
            .int32("port_cap_flags")
            .int32("max_msg_sz")
            .int32("bad_pkey_cntr")
            .int32("qkey_viol_cntr")
            .int16("pkey_tbl_len")
            .int16("lid")
            .int16("sm_lid")
            .int8("lmc")
            .int8("max_vl_num")
            .int8("sm_sl")
            .int8("subnet_timeout")
            .int8("init_type_reply")
            .int8("active_width")
            .int8("active_speed")
            .int8("phys_state")
            .int8("link_layer")
            .int8("flags")
            .int16("port_cap_flags2")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long STATE = STRUCT.offset("state");
    public static final long MAX_MTU = STRUCT.offset("max_mtu");
    public static final long ACTIVE_MTU = STRUCT.offset("active_mtu");
    public static final long GID_TBL_LEN = STRUCT.offset("gid_tbl_len");
    public static final long PORT_CAP_FLAGS = STRUCT.offset("port_cap_flags");
    public static final long MAX_MSG_SZ = STRUCT.offset("max_msg_sz");
    public static final long BAD_PKEY_CNTR = STRUCT.offset("bad_pkey_cntr");
    public static final long QKEY_VIOL_CNTR = STRUCT.offset("qkey_viol_cntr");
    public static final long PKEY_TBL_LEN = STRUCT.offset("pkey_tbl_len");
    public static final long LID = STRUCT.offset("lid");
    public static final long SM_LID = STRUCT.offset("sm_lid");
    public static final long LMC = STRUCT.offset("lmc");
    public static final long MAX_VL_NUM = STRUCT.offset("max_vl_num");
    public static final long SM_SL = STRUCT.offset("sm_sl");
    public static final long SUBNET_TIMEOUT = STRUCT.offset("subnet_timeout");
    public static final long INIT_TYPE_REPLY = STRUCT.offset("init_type_reply");
    public static final long ACTIVE_WIDTH = STRUCT.offset("active_width");
    public static final long ACTIVE_SPEED = STRUCT.offset("active_speed");
    public static final long PHYS_STATE = STRUCT.offset("phys_state");
    public static final long LINK_LAYER = STRUCT.offset("link_layer");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long PORT_CAP_FLAGS2 = STRUCT.offset("port_cap_flags2");

    private PortAttr() {}
  }

  /** {@code struct ibv_async_event}. */
  public static final class AsyncEvent {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_async_event").pointer("element").int32("event_type").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long ELEMENT = STRUCT.offset("element");
    public static final long EVENT_TYPE = STRUCT.offset("event_type");

    private AsyncEvent() {}
  }

  /** {@code struct ibv_wc}. */
  public static final class Wc {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_wc")
            .int64("wr_id")
            .int32("status")
            .int32("opcode")
            .int32("vendor_err")
            .int32("byte_len")
            .int32("imm_data")
            .int32("qp_num")
            .int32("src_qp")
            .int32("wc_flags")
            .int16("pkey_index")
            .int16("slid")
            .int8("sl")
            .int8("dlid_path_bits")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long WR_ID = STRUCT.offset("wr_id");
    public static final long STATUS = STRUCT.offset("status");
    public static final long OPCODE = STRUCT.offset("opcode");
    public static final long VENDOR_ERR = STRUCT.offset("vendor_err");
    public static final long BYTE_LEN = STRUCT.offset("byte_len");
    public static final long IMM_DATA = STRUCT.offset("imm_data");
    public static final long QP_NUM = STRUCT.offset("qp_num");
    public static final long SRC_QP = STRUCT.offset("src_qp");
    public static final long WC_FLAGS = STRUCT.offset("wc_flags");
    public static final long PKEY_INDEX = STRUCT.offset("pkey_index");
    public static final long SLID = STRUCT.offset("slid");
    public static final long SL = STRUCT.offset("sl");
    public static final long DLID_PATH_BITS = STRUCT.offset("dlid_path_bits");

    private Wc() {}
  }

  /** {@code struct ibv_mr}. */
  public static final class Mr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_mr")
            .pointer("context")
            .pointer("pd")
            .pointer("addr")
            .int64("length")
            .int32("handle")
            .int32("lkey")
            .int32("rkey")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long PD = STRUCT.offset("pd");
    public static final long ADDR = STRUCT.offset("addr");
    public static final long LENGTH = STRUCT.offset("length");
    public static final long HANDLE = STRUCT.offset("handle");
    public static final long LKEY = STRUCT.offset("lkey");
    public static final long RKEY = STRUCT.offset("rkey");

    private Mr() {}
  }

  /** {@code struct ibv_mw}. */
  public static final class Mw {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_mw")
            .pointer("context")
            .pointer("pd")
            .int32("rkey")
            .int32("handle")
            .int32("type")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long PD = STRUCT.offset("pd");
    public static final long RKEY = STRUCT.offset("rkey");
    public static final long HANDLE = STRUCT.offset("handle");
    public static final long TYPE = STRUCT.offset("type");

    private Mw() {}
  }

  /** {@code struct ibv_mw_bind_info}. */
  public static final class MwBindInfo {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_mw_bind_info")
            .pointer("mr")
            .int64("addr")
            .int64("length")
            .int32("mw_access_flags")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long MR = STRUCT.offset("mr");
    public static final long ADDR = STRUCT.offset("addr");
    public static final long LENGTH = STRUCT.offset("length");
    public static final long MW_ACCESS_FLAGS = STRUCT.offset("mw_access_flags");

    private MwBindInfo() {}
  }

  /** {@code struct ibv_mw_bind}. */
  public static final class MwBind {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_mw_bind")
            .int64("wr_id")
            .int32("send_flags")
            .struct("bind_info", MwBindInfo.STRUCT)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long WR_ID = STRUCT.offset("wr_id");
    public static final long SEND_FLAGS = STRUCT.offset("send_flags");
    public static final long BIND_INFO = STRUCT.offset("bind_info");

    private MwBind() {}
  }

  /** {@code struct ibv_global_route}. */
  public static final class GlobalRoute {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_global_route")
            .words("dgid", 16)
            .int32("flow_label")
            .int8("sgid_index")
            .int8("hop_limit")
            .int8("traffic_class")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long DGID = STRUCT.offset("dgid");
    public static final long FLOW_LABEL = STRUCT.offset("flow_label");
    public static final long SGID_INDEX = STRUCT.offset("sgid_index");
    public static final long HOP_LIMIT = STRUCT.offset("hop_limit");
    public static final long TRAFFIC_CLASS = STRUCT.offset("traffic_class");

    private GlobalRoute() {}
  }

  /** {@code struct ibv_grh}. */
  public static final class Grh {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_grh")
            .int32("version_tclass_flow")
            .int16("paylen")
            .int8("next_hdr")
            .int8("hop_limit")
            .words("sgid", 16)
            .words("dgid", 16)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long VERSION_TCLASS_FLOW = STRUCT.offset("version_tclass_flow");
    public static final long PAYLEN = STRUCT.offset("paylen");
    public static final long NEXT_HDR = STRUCT.offset("next_hdr");
    public static final long HOP_LIMIT = STRUCT.offset("hop_limit");
    public static final long SGID = STRUCT.offset("sgid");
    public static final long DGID = STRUCT.offset("dgid");

    private Grh() {}
  }

  /** {@code struct ibv_ah_attr}. */
  public static final class AhAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_ah_attr")
            .struct("grh", GlobalRoute.STRUCT)
            .int16("dlid")
            .int8("sl")
            .int8("src_path_bits")
            .int8("static_rate")
            .int8("is_global")
            .int8("port_num")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long GRH = STRUCT.offset("grh");
    public static final long DLID = STRUCT.offset("dlid");
    public static final long SL = STRUCT.offset("sl");
    public static final long SRC_PATH_BITS = STRUCT.offset("src_path_bits");
    public static final long STATIC_RATE = STRUCT.offset("static_rate");
    public static final long IS_GLOBAL = STRUCT.offset("is_global");
    public static final long PORT_NUM = STRUCT.offset("port_num");

    private AhAttr() {}
  }

  /** {@code struct ibv_srq_attr}. */
  public static final class SrqAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_srq_attr")
            .int32("max_wr")
            .int32("max_sge")
            .int32("srq_limit")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long MAX_WR = STRUCT.offset("max_wr");
    public static final long MAX_SGE = STRUCT.offset("max_sge");
    public static final long SRQ_LIMIT = STRUCT.offset("srq_limit");

    private SrqAttr() {}
  }

  /** {@code struct ibv_srq_init_attr}. */
  public static final class SrqInitAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_srq_init_attr")
            .pointer("srq_context")
            .struct("attr", SrqAttr.STRUCT)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long SRQ_CONTEXT = STRUCT.offset("srq_context");
    public static final long ATTR = STRUCT.offset("attr");

    private SrqInitAttr() {}
  }

  /** {@code struct ibv_qp_cap}. */
  public static final class QpCap {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_qp_cap")
            .int32("max_send_wr")
            .int32("max_recv_wr")
            .int32("max_send_sge")
            .int32("max_recv_sge")
            .int32("max_inline_data")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long MAX_SEND_WR = STRUCT.offset("max_send_wr");
    public static final long MAX_RECV_WR = STRUCT.offset("max_recv_wr");
    public static final long MAX_SEND_SGE = STRUCT.offset("max_send_sge");
    public static final long MAX_RECV_SGE = STRUCT.offset("max_recv_sge");
    public static final long MAX_INLINE_DATA = STRUCT.offset("max_inline_data");

    private QpCap() {}
  }

  /** {@code struct ibv_qp_init_attr}. */
  public static final class QpInitAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_qp_init_attr")
            .pointer("qp_context")
            .pointer("send_cq")
            .pointer("recv_cq")
            .pointer("srq")
            .struct("cap", QpCap.STRUCT)
            .int32("qp_type")
            .int32("sq_sig_all")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long QP_CONTEXT = STRUCT.offset("qp_context");
    public static final long SEND_CQ = STRUCT.offset("send_cq");
    public static final long RECV_CQ = STRUCT.offset("recv_cq");
    public static final long SRQ = STRUCT.offset("srq");
    public static final long CAP = STRUCT.offset("cap");
    public static final long QP_TYPE = STRUCT.offset("qp_type");
    public static final long SQ_SIG_ALL = STRUCT.offset("sq_sig_all");

    private QpInitAttr() {}
  }

  /** {@code struct ibv_qp_init_attr_ex}. */
  public static final class QpInitAttrEx {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_qp_init_attr_ex")
            .pointer("qp_context")
            .pointer("send_cq")
            .pointer("recv_cq")
            .pointer("srq")
            .struct("cap", QpCap.STRUCT)
            .int32("qp_type")
            .int32("sq_sig_all")
            .int32("comp_mask")
            .pointer("pd")
            .pointer("xrcd")
            .int32("create_flags")
            .int16("max_tso_header")
            .pointer("rwq_ind_tbl")
            .int8("rx_hash_conf.rx_hash_function")
            .int8("rx_hash_conf.rx_hash_key_len")
            .pointer("rx_hash_conf.rx_hash_key")
            .int64("rx_hash_conf.rx_hash_fields_mask")
            .int32("source_qpn")
            .int64("send_ops_flags")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long QP_CONTEXT = STRUCT.offset("qp_context");
    public static final long SEND_CQ = STRUCT.offset("send_cq");
    public static final long RECV_CQ = STRUCT.offset("recv_cq");
    public static final long SRQ = STRUCT.offset("srq");
    public static final long CAP = STRUCT.offset("cap");
    public static final long QP_TYPE = STRUCT.offset("qp_type");
    public static final long SQ_SIG_ALL = STRUCT.offset("sq_sig_all");
    public static final long COMP_MASK = STRUCT.offset("comp_mask");
    public static final long PD = STRUCT.offset("pd");
    public static final long XRCD = STRUCT.offset("xrcd");
    public static final long CREATE_FLAGS = STRUCT.offset("create_flags");
    public static final long MAX_TSO_HEADER = STRUCT.offset("max_tso_header");
    public static final long RWQ_IND_TBL = STRUCT.offset("rwq_ind_tbl");
    public static final long RX_HASH_CONF_RX_HASH_FUNCTION =
        STRUCT.offset("rx_hash_conf.rx_hash_function");
    public static final long RX_HASH_CONF_RX_HASH_KEY_LEN =
        STRUCT.offset("rx_hash_conf.rx_hash_key_len");
    public static final long RX_HASH_CONF_RX_HASH_KEY = STRUCT.offset("rx_hash_conf.rx_hash_key");
    public static final long RX_HASH_CONF_RX_HASH_FIELDS_MASK =
        STRUCT.offset("rx_hash_conf.rx_hash_fields_mask");
    public static final long SOURCE_QPN = STRUCT.offset("source_qpn");
    public static final long SEND_OPS_FLAGS = STRUCT.offset("send_ops_flags");

    private QpInitAttrEx() {}
  }

  /** {@code struct ibv_qp_attr}. */
  public static final class QpAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_qp_attr")
            .int32("qp_state")
            .int32("cur_qp_state")
            .int32("path_mtu")
            .int32("path_mig_state")
            .int32("qkey")
            .int32("rq_psn")
            .int32("sq_psn")
            .int32("dest_qp_num")
            .int32("qp_access_flags")
            .struct("cap", QpCap.STRUCT)
            .struct("ah_attr", AhAttr.STRUCT)
            .struct("alt_ah_attr", AhAttr.STRUCT)
            .int16("pkey_index")
            .int16("alt_pkey_index")
            .int8("en_sqd_async_notify")
            .int8("sq_draining")
            .int8("max_rd_atomic")
            .int8("max_dest_rd_atomic")
            .int8("min_rnr_timer")
            .int8("port_num")
            .int8("timeout")
            .int8("retry_cnt")
            .int8("rnr_retry")
            .int8("alt_port_num")
            .int8("alt_timeout")
            .int32("rate_limit")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long QP_STATE = STRUCT.offset("qp_state");
    public static final long CUR_QP_STATE = STRUCT.offset("cur_qp_state");
    public static final long PATH_MTU = STRUCT.offset("path_mtu");
    public static final long PATH_MIG_STATE = STRUCT.offset("path_mig_state");
    public static final long QKEY = STRUCT.offset("qkey");
    public static final long RQ_PSN = STRUCT.offset("rq_psn");
    public static final long SQ_PSN = STRUCT.offset("sq_psn");
    public static final long DEST_QP_NUM = STRUCT.offset("dest_qp_num");
    public static final long QP_ACCESS_FLAGS = STRUCT.offset("qp_access_flags");
    public static final long CAP = STRUCT.offset("cap");
    public static final long AH_ATTR = STRUCT.offset("ah_attr");
    public static final long ALT_AH_ATTR = STRUCT.offset("alt_ah_attr");
    public static final long PKEY_INDEX = STRUCT.offset("pkey_index");
    public static final long ALT_PKEY_INDEX = STRUCT.offset("alt_pkey_index");
    public static final long EN_SQD_ASYNC_NOTIFY = STRUCT.offset("en_sqd_async_notify");
    public static final long SQ_DRAINING = STRUCT.offset("sq_draining");
    public static final long MAX_RD_ATOMIC = STRUCT.offset("max_rd_atomic");
    public static final long MAX_DEST_RD_ATOMIC = STRUCT.offset("max_dest_rd_atomic");
    public static final long MIN_RNR_TIMER = STRUCT.offset("min_rnr_timer");
    public static final long PORT_NUM = STRUCT.offset("port_num");
    public static final long TIMEOUT = STRUCT.offset("timeout");
    public static final long RETRY_CNT = STRUCT.offset("retry_cnt");
    public static final long RNR_RETRY = STRUCT.offset("rnr_retry");
    public static final long ALT_PORT_NUM = STRUCT.offset("alt_port_num");
    public static final long ALT_TIMEOUT = STRUCT.offset("alt_timeout");
    public static final long RATE_LIMIT = STRUCT.offset("rate_limit");

    private QpAttr() {}
  }

  /** {@code struct ibv_sge}. */
  public static final class Sge {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_sge").int64("addr").int32("length").int32("lkey").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long ADDR = STRUCT.offset("addr");
    public static final long LENGTH = STRUCT.offset("length");
    public static final long LKEY = STRUCT.offset("lkey");

    private Sge() {}
  }

  /** {@code struct ibv_send_wr}. */
  public static final class SendWr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_send_wr")
            .int64("wr_id")
            .pointer("next")
            .pointer("sg_list")
            .int32("num_sge")
            .int32("opcode")
            .int32("send_flags")
            .int32("imm_data")
            .int64("wr.atomic.remote_addr")
            .int64("wr.atomic.compare_add")
            .int64("wr.atomic.swap")
            .int32("wr.atomic.rkey")
            .words("qp_type", 8)
            .pointer("bind_mw.mw")
            .int32("bind_mw.rkey")
            .struct("bind_mw.bind_info", MwBindInfo.STRUCT)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long WR_ID = STRUCT.offset("wr_id");
    public static final long NEXT = STRUCT.offset("next");
    public static final long SG_LIST = STRUCT.offset("sg_list");
    public static final long NUM_SGE = STRUCT.offset("num_sge");
    public static final long OPCODE = STRUCT.offset("opcode");
    public static final long SEND_FLAGS = STRUCT.offset("send_flags");
    public static final long IMM_DATA = STRUCT.offset("imm_data");
    public static final long WR_ATOMIC_REMOTE_ADDR = STRUCT.offset("wr.atomic.remote_addr");
    public static final long WR_ATOMIC_COMPARE_ADD = STRUCT.offset("wr.atomic.compare_add");
    public static final long WR_ATOMIC_SWAP = STRUCT.offset("wr.atomic.swap");
    public static final long WR_ATOMIC_RKEY = STRUCT.offset("wr.atomic.rkey");
    public static final long BIND_MW_MW = STRUCT.offset("bind_mw.mw");
    public static final long BIND_MW_RKEY = STRUCT.offset("bind_mw.rkey");
    public static final long BIND_MW_BIND_INFO = STRUCT.offset("bind_mw.bind_info");

    private SendWr() {}
  }

  /** {@code struct ibv_recv_wr}. */
  public static final class RecvWr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_recv_wr")
            .int64("wr_id")
            .pointer("next")
            .pointer("sg_list")
            .int32("num_sge")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long WR_ID = STRUCT.offset("wr_id");
    public static final long NEXT = STRUCT.offset("next");
    public static final long SG_LIST = STRUCT.offset("sg_list");
    public static final long NUM_SGE = STRUCT.offset("num_sge");

    private RecvWr() {}
  }

  /** {@code struct ibv_srq}. */
  public static final class Srq {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_srq")
            .pointer("context")
            .pointer("srq_context")
            .pointer("pd")
            .int32("handle")
            .words("mutex", MUTEX_BYTES)
            .words("cond", COND_BYTES)
            .int32("events_completed")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long SRQ_CONTEXT = STRUCT.offset("srq_context");
    public static final long PD = STRUCT.offset("pd");
    public static final long HANDLE = STRUCT.offset("handle");
    public static final long EVENTS_COMPLETED = STRUCT.offset("events_completed");

    private Srq() {}
  }

  /** {@code struct ibv_qp}. */
  public static final class Qp {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_qp")
            .pointer("context")
            .pointer("qp_context")
            .pointer("pd")
            .pointer("send_cq")
            .pointer("recv_cq")
            .pointer("srq")
            .int32("handle")
            .int32("qp_num")
            .int32("state")
            .int32("qp_type")
            .words("mutex", MUTEX_BYTES)
            .words("cond", COND_BYTES)
            .int32("events_completed")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long QP_CONTEXT = STRUCT.offset("qp_context");
    public static final long PD = STRUCT.offset("pd");
    public static final long SEND_CQ = STRUCT.offset("send_cq");
    public static final long RECV_CQ = STRUCT.offset("recv_cq");
    public static final long SRQ = STRUCT.offset("srq");
    public static final long HANDLE = STRUCT.offset("handle");
    public static final long QP_NUM = STRUCT.offset("qp_num");
    public static final long STATE = STRUCT.offset("state");
    public static final long QP_TYPE = STRUCT.offset("qp_type");
    public static final long EVENTS_COMPLETED = STRUCT.offset("events_completed");

    private Qp() {}
  }

  /** {@code struct ibv_qp_ex}. */
  public static final class QpEx {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_qp_ex")
            .struct("qp_base", Qp.STRUCT)
            .int64("comp_mask")
            .int64("wr_id")
            .int32("wr_flags")
            .pointer("wr_atomic_cmp_swp")
            .pointer("wr_atomic_fetch_add")
            .pointer("wr_bind_mw")
            .pointer("wr_local_inv")
            .pointer("wr_rdma_read")
            .pointer("wr_rdma_write")
            .pointer("wr_rdma_write_imm")
            .pointer("wr_send")
            .pointer("wr_send_imm")
            .pointer("wr_send_inv")
            .pointer("wr_send_tso")
            .pointer("wr_set_ud_addr")
            .pointer("wr_set_xrc_srqn")
            .pointer("wr_set_inline_data")
            .pointer("wr_set_inline_data_list")
            .pointer("wr_set_sge")
            .pointer("wr_set_sge_list")
            .pointer("wr_start")
            .pointer("wr_complete")
            .pointer("wr_abort")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long QP_BASE = STRUCT.offset("qp_base");
    public static final long COMP_MASK = STRUCT.offset("comp_mask");
    public static final long WR_ID = STRUCT.offset("wr_id");
    public static final long WR_FLAGS = STRUCT.offset("wr_flags");
    public static final long WR_ATOMIC_CMP_SWP = STRUCT.offset("wr_atomic_cmp_swp");
    public static final long WR_ATOMIC_FETCH_ADD = STRUCT.offset("wr_atomic_fetch_add");
    public static final long WR_BIND_MW = STRUCT.offset("wr_bind_mw");
    public static final long WR_LOCAL_INV = STRUCT.offset("wr_local_inv");
    public static final long WR_RDMA_READ = STRUCT.offset("wr_rdma_read");
    public static final long WR_RDMA_WRITE = STRUCT.offset("wr_rdma_write");
    public static final long WR_RDMA_WRITE_IMM = STRUCT.offset("wr_rdma_write_imm");
    public static final long WR_SEND = STRUCT.offset("wr_send");
    public static final long WR_SEND_IMM = STRUCT.offset("wr_send_imm");
    public static final long WR_SEND_INV = STRUCT.offset("wr_send_inv");
    public static final long WR_SEND_TSO = STRUCT.offset("wr_send_tso");
    public static final long WR_SET_UD_ADDR = STRUCT.offset("wr_set_ud_addr");
    public static final long WR_SET_XRC_SRQN = STRUCT.offset("wr_set_xrc_srqn");
    public static final long WR_SET_INLINE_DATA = STRUCT.offset("wr_set_inline_data");
    public static final long WR_SET_INLINE_DATA_LIST = STRUCT.offset("wr_set_inline_data_list");
    public static final long WR_SET_SGE = STRUCT.offset("wr_set_sge");
    public static final long WR_SET_SGE_LIST = STRUCT.offset("wr_set_sge_list");
    public static final long WR_START = STRUCT.offset("wr_start");
    public static final long WR_COMPLETE = STRUCT.offset("wr_complete");
    public static final long WR_ABORT = STRUCT.offset("wr_abort");

    private QpEx() {}
  }

  /** {@code struct ibv_comp_channel}. */
  public static final class CompChannel {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_comp_channel")
            .pointer("context")
            .int32("fd")
            .int32("refcnt")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long FD = STRUCT.offset("fd");
    public static final long REFCNT = STRUCT.offset("refcnt");

    private CompChannel() {}
  }

  /** {@code struct ibv_cq}. */
  public static final class Cq {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_cq")
            .pointer("context")
            .pointer("channel")
            .pointer("cq_context")
            .int32("handle")
            .int32("cqe")
            .words("mutex", MUTEX_BYTES)
            .words("cond", COND_BYTES)
            .int32("comp_events_completed")
            .int32("async_events_completed")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long CHANNEL = STRUCT.offset("channel");
    public static final long CQ_CONTEXT = STRUCT.offset("cq_context");
    public static final long HANDLE = STRUCT.offset("handle");
    public static final long CQE = STRUCT.offset("cqe");
    public static final long COMP_EVENTS_COMPLETED = STRUCT.offset("comp_events_completed");
    public static final long ASYNC_EVENTS_COMPLETED = STRUCT.offset("async_events_completed");

    private Cq() {}
  }

  /** {@code struct ibv_cq_ex}. */
  public static final class CqEx {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_cq_ex")
            .pointer("context")
            .pointer("channel")
            .pointer("cq_context")
            .int32("handle")
            .int32("cqe")
            .words("mutex", MUTEX_BYTES)
            .words("cond", COND_BYTES)
            .int32("comp_events_completed")
            .int32("async_events_completed")
            .int32("comp_mask")
            .int32("status")
            .int64("wr_id")
            .pointer("start_poll")
            .pointer("next_poll")
            .pointer("end_poll")
            .pointer("read_opcode")
            .pointer("read_vendor_err")
            .pointer("read_byte_len")
            .pointer("read_imm_data")
            .pointer("read_qp_num")
            .pointer("read_src_qp")
            .pointer("read_wc_flags")
            .pointer("read_slid")
            .pointer("read_sl")
            .pointer("read_dlid_path_bits")
            .pointer("read_completion_ts")
            .pointer("read_cvlan")
            .pointer("read_flow_tag")
            .pointer("read_tm_info")
            .pointer("read_completion_wallclock_ns")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long CHANNEL = STRUCT.offset("channel");
    public static final long CQ_CONTEXT = STRUCT.offset("cq_context");
    public static final long HANDLE = STRUCT.offset("handle");
    public static final long CQE = STRUCT.offset("cqe");
    public static final long COMP_EVENTS_COMPLETED = STRUCT.offset("comp_events_completed");
    public static final long ASYNC_EVENTS_COMPLETED = STRUCT.offset("async_events_completed");
    public static final long COMP_MASK = STRUCT.offset("comp_mask");
    public static final long STATUS = STRUCT.offset("status");
    public static final long WR_ID = STRUCT.offset("wr_id");
    public static final long START_POLL = STRUCT.offset("start_poll");
    public static final long NEXT_POLL = STRUCT.offset("next_poll");
    public static final long END_POLL = STRUCT.offset("end_poll");
    public static final long READ_OPCODE = STRUCT.offset("read_opcode");
    public static final long READ_VENDOR_ERR = STRUCT.offset("read_vendor_err");
    public static final long READ_BYTE_LEN = STRUCT.offset("read_byte_len");
    public static final long READ_IMM_DATA = STRUCT.offset("read_imm_data");
    public static final long READ_QP_NUM = STRUCT.offset("read_qp_num");
    public static final long READ_SRC_QP = STRUCT.offset("read_src_qp");
    public static final long READ_WC_FLAGS = STRUCT.offset("read_wc_flags");
    public static final long READ_SLID = STRUCT.offset("read_slid");
    public static final long READ_SL = STRUCT.offset("read_sl");
    public static final long READ_DLID_PATH_BITS = STRUCT.offset("read_dlid_path_bits");
    public static final long READ_COMPLETION_TS = STRUCT.offset("read_completion_ts");
    public static final long READ_CVLAN = STRUCT.offset("read_cvlan");
    public static final long READ_FLOW_TAG = STRUCT.offset("read_flow_tag");
    public static final long READ_TM_INFO = STRUCT.offset("read_tm_info");
    public static final long READ_COMPLETION_WALLCLOCK_NS =
        STRUCT.offset("read_completion_wallclock_ns");

    private CqEx() {}
  }

  /** {@code struct ibv_ah}. */
  public static final class Ah {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_ah").pointer("context").pointer("pd").int32("handle").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CONTEXT = STRUCT.offset("context");
    public static final long PD = STRUCT.offset("pd");
    public static final long HANDLE = STRUCT.offset("handle");

    private Ah() {}
  }

  /** {@code struct ibv_device}. */
  public static final class Device {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_device")
            .pointer("_ops._dummy1")
            .pointer("_ops._dummy2")
            .int32("node_type")
            .int32("transport_type")
            .bytes("name", 64)
            .bytes("dev_name", 64)
            .bytes("dev_path", 256)
            .bytes("ibdev_path", 256)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long NODE_TYPE = STRUCT.offset("node_type");
    public static final long TRANSPORT_TYPE = STRUCT.offset("transport_type");
    public static final long NAME = STRUCT.offset("name");
    public static final long DEV_NAME = STRUCT.offset("dev_name");
    public static final long DEV_PATH = STRUCT.offset("dev_path");
    public static final long IBDEV_PATH = STRUCT.offset("ibdev_path");

    private Device() {}
  }

  /** {@code struct ibv_context_ops}. */
  public static final class ContextOps {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_context_ops")
            .pointer("_compat_query_device")
            .pointer("_compat_query_port")
            .pointer("_compat_alloc_pd")
            .pointer("_compat_dealloc_pd")
            .pointer("_compat_reg_mr")
            .pointer("_compat_rereg_mr")
            .pointer("_compat_dereg_mr")
            .pointer("alloc_mw")
            .pointer("bind_mw")
            .pointer("dealloc_mw")
            .pointer("_compat_create_cq")
            .pointer("poll_cq")
            .pointer("req_notify_cq")
            .pointer("_compat_cq_event")
            .pointer("_compat_resize_cq")
            .pointer("_compat_destroy_cq")
            .pointer("_compat_create_srq")
            .pointer("_compat_modify_srq")
            .pointer("_compat_query_srq")
            .pointer("_compat_destroy_srq")
            .pointer("post_srq_recv")
            .pointer("_compat_create_qp")
            .pointer("_compat_query_qp")
            .pointer("_compat_modify_qp")
            .pointer("_compat_destroy_qp")
            .pointer("post_send")
            .pointer("post_recv")
            .pointer("_compat_create_ah")
            .pointer("_compat_destroy_ah")
            .pointer("_compat_attach_mcast")
            .pointer("_compat_detach_mcast")
            .pointer("_compat_async_event")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long ALLOC_MW = STRUCT.offset("alloc_mw");
    public static final long BIND_MW = STRUCT.offset("bind_mw");
    public static final long DEALLOC_MW = STRUCT.offset("dealloc_mw");
    public static final long POLL_CQ = STRUCT.offset("poll_cq");
    public static final long REQ_NOTIFY_CQ = STRUCT.offset("req_notify_cq");
    public static final long POST_SRQ_RECV = STRUCT.offset("post_srq_recv");
    public static final long POST_SEND = STRUCT.offset("post_send");
    public static final long POST_RECV = STRUCT.offset("post_recv");

    private ContextOps() {}
  }

  /** {@code struct ibv_context}. */
  public static final class Context {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_context")
            .pointer("device")
            .struct("ops", ContextOps.STRUCT)
            .int32("cmd_fd")
            .int32("async_fd")
            .int32("num_comp_vectors")
            .words("mutex", MUTEX_BYTES)
            .pointer("abi_compat")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long DEVICE = STRUCT.offset("device");
    public static final long OPS = STRUCT.offset("ops");
    public static final long CMD_FD = STRUCT.offset("cmd_fd");
    public static final long ASYNC_FD = STRUCT.offset("async_fd");
    public static final long NUM_COMP_VECTORS = STRUCT.offset("num_comp_vectors");
    public static final long ABI_COMPAT = STRUCT.offset("abi_compat");

    private Context() {}
  }

  /** {@code struct ibv_cq_init_attr_ex}. */
  public static final class CqInitAttrEx {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_cq_init_attr_ex")
            .int32("cqe")
            .pointer("cq_context")
            .pointer("channel")
            .int32("comp_vector")
            .int64("wc_flags")
            .int32("comp_mask")
            .int32("flags")
            .pointer("parent_domain")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long CQE = STRUCT.offset("cqe");
    public static final long CQ_CONTEXT = STRUCT.offset("cq_context");
    public static final long CHANNEL = STRUCT.offset("channel");
    public static final long COMP_VECTOR = STRUCT.offset("comp_vector");
    public static final long WC_FLAGS = STRUCT.offset("wc_flags");
    public static final long COMP_MASK = STRUCT.offset("comp_mask");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long PARENT_DOMAIN = STRUCT.offset("parent_domain");

    private CqInitAttrEx() {}
  }

  /** {@code struct ibv_poll_cq_attr}. */
  public static final class PollCqAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_poll_cq_attr").int32("comp_mask").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long COMP_MASK = STRUCT.offset("comp_mask");

    private PollCqAttr() {}
  }

  /** {@code struct ibv_modify_cq_attr}. */
  public static final class ModifyCqAttr {
    public static final CStruct STRUCT =
        CStruct.named("struct ibv_modify_cq_attr")
            .int32("attr_mask")
            .int16("moderate.cq_count")
            .int16("moderate.cq_period")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long ATTR_MASK = STRUCT.offset("attr_mask");
    public static final long MODERATE_CQ_COUNT = STRUCT.offset("moderate.cq_count");
    public static final long MODERATE_CQ_PERIOD = STRUCT.offset("moderate.cq_period");

    private ModifyCqAttr() {}
  }

  private VerbsStructs() {}

  /** Those whose length is the same in all releases. */
  static List<CStruct> fixed() {
    return List.of(
        GidEntry.STRUCT,
        DeviceAttr.STRUCT,
        AsyncEvent.STRUCT,
        Wc.STRUCT,
        Mr.STRUCT,
        Mw.STRUCT,
        MwBindInfo.STRUCT,
        MwBind.STRUCT,
        GlobalRoute.STRUCT,
        Grh.STRUCT,
        AhAttr.STRUCT,
        SrqAttr.STRUCT,
        SrqInitAttr.STRUCT,
        QpCap.STRUCT,
        QpInitAttr.STRUCT,
        Sge.STRUCT,
        SendWr.STRUCT,
        RecvWr.STRUCT,
        Srq.STRUCT,
        Qp.STRUCT,
        CompChannel.STRUCT,
        Cq.STRUCT,
        Ah.STRUCT,
        Device.STRUCT,
        ContextOps.STRUCT,
        Context.STRUCT,
        PollCqAttr.STRUCT,
        ModifyCqAttr.STRUCT);
  }

  /** Those that releases have lengthened at their end. */
  static List<CStruct> growing() {
    return List.of(
        DeviceAttrEx.STRUCT,
        PortAttr.STRUCT,
        QpInitAttrEx.STRUCT,
        QpAttr.STRUCT,
        QpEx.STRUCT,
        CqEx.STRUCT,
        CqInitAttrEx.STRUCT);
  }
}
