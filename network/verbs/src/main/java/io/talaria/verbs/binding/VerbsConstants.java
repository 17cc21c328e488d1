// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

/** Constants of {@code verbs.h}, under their names in C; a test compares each with the headers. */
public final class VerbsConstants {
  // ibv_gid_type
  public static final int IBV_GID_TYPE_IB = 0;
  public static final int IBV_GID_TYPE_ROCE_V1 = 1;
  public static final int IBV_GID_TYPE_ROCE_V2 = 2;

  // ibv_node_type
  public static final int IBV_NODE_UNKNOWN = -1;
  public static final int IBV_NODE_CA = 1;
  public static final int IBV_NODE_SWITCH = 2;
  public static final int IBV_NODE_ROUTER = 3;
  public static final int IBV_NODE_RNIC = 4;
  public static final int IBV_NODE_USNIC = 5;
  public static final int IBV_NODE_USNIC_UDP = 6;
  public static final int IBV_NODE_UNSPECIFIED = 7;

  // ibv_transport_type
  public static final int IBV_TRANSPORT_UNKNOWN = -1;
  public static final int IBV_TRANSPORT_IB = 0;
  public static final int IBV_TRANSPORT_IWARP = 1;
  public static final int IBV_TRANSPORT_USNIC = 2;
  public static final int IBV_TRANSPORT_USNIC_UDP = 3;
  public static final int IBV_TRANSPORT_UNSPECIFIED = 4;

  // ibv_device_cap_flags
  public static final int IBV_DEVICE_RESIZE_MAX_WR = 1;
  public static final int IBV_DEVICE_BAD_PKEY_CNTR = 2;
  public static final int IBV_DEVICE_BAD_QKEY_CNTR = 4;
  public static final int IBV_DEVICE_RAW_MULTI = 8;
  public static final int IBV_DEVICE_AUTO_PATH_MIG = 16;
  public static final int IBV_DEVICE_CHANGE_PHY_PORT = 32;
  public static final int IBV_DEVICE_UD_AV_PORT_ENFORCE = 64;
  public static final int IBV_DEVICE_CURR_QP_STATE_MOD = 128;
  public static final int IBV_DEVICE_SHUTDOWN_PORT = 256;
  public static final int IBV_DEVICE_INIT_TYPE = 512;
  public static final int IBV_DEVICE_PORT_ACTIVE_EVENT = 0x400;
  public static final int IBV_DEVICE_SYS_IMAGE_GUID = 0x800;
  public static final int IBV_DEVICE_RC_RNR_NAK_GEN = 0x1000;
  public static final int IBV_DEVICE_SRQ_RESIZE = 0x2000;
  public static final int IBV_DEVICE_N_NOTIFY_CQ = 0x4000;
  public static final int IBV_DEVICE_MEM_WINDOW = 0x20000;
  public static final int IBV_DEVICE_UD_IP_CSUM = 0x40000;
  public static final int IBV_DEVICE_MEM_MGT_EXTENSIONS = 0x200000;
  public static final int IBV_DEVICE_MEM_WINDOW_TYPE_2A = 0x800000;
  public static final int IBV_DEVICE_MEM_WINDOW_TYPE_2B = 0x1000000;
  public static final int IBV_DEVICE_RC_IP_CSUM = 0x2000000;
  public static final int IBV_DEVICE_RAW_IP_CSUM = 0x4000000;
  public static final int IBV_DEVICE_MANAGED_FLOW_STEERING = 0x20000000;

  // ibv_atomic_cap
  public static final int IBV_ATOMIC_NONE = 0;
  public static final int IBV_ATOMIC_HCA = 1;
  public static final int IBV_ATOMIC_GLOB = 2;

  // ibv_odp_general_caps
  public static final int IBV_ODP_SUPPORT = 1;
  public static final int IBV_ODP_SUPPORT_IMPLICIT = 2;

  // ibv_odp_transport_cap_bits
  public static final int IBV_ODP_SUPPORT_SEND = 1;
  public static final int IBV_ODP_SUPPORT_RECV = 2;
  public static final int IBV_ODP_SUPPORT_WRITE = 4;
  public static final int IBV_ODP_SUPPORT_READ = 8;
  public static final int IBV_ODP_SUPPORT_ATOMIC = 16;
  public static final int IBV_ODP_SUPPORT_SRQ_RECV = 32;

  // ibv_mtu
  public static final int IBV_MTU_256 = 1;
  public static final int IBV_MTU_512 = 2;
  public static final int IBV_MTU_1024 = 3;
  public static final int IBV_MTU_2048 = 4;
  public static final int IBV_MTU_4096 = 5;

  // ibv_port_state
  public static final int IBV_PORT_NOP = 0;
  public static final int IBV_PORT_DOWN = 1;
  public static final int IBV_PORT_INIT = 2;
  public static final int IBV_PORT_ARMED = 3;
  public static final int IBV_PORT_ACTIVE = 4;
  public static final int IBV_PORT_ACTIVE_DEFER = 5;

  // ibv_event_type
  public static final int IBV_EVENT_CQ_ERR = 0;
  public static final int IBV_EVENT_QP_FATAL = 1;
  public static final int IBV_EVENT_QP_REQ_ERR = 2;
  public static final int IBV_EVENT_QP_ACCESS_ERR = 3;
  public static final int IBV_EVENT_COMM_EST = 4;
  public static final int IBV_EVENT_SQ_DRAINED = 5;
  public static final int IBV_EVENT_PATH_MIG = 6;
  public static final int IBV_EVENT_PATH_MIG_ERR = 7;
  public static final int IBV_EVENT_DEVICE_FATAL = 8;
  public static final int IBV_EVENT_PORT_ACTIVE = 9;
  public static final int IBV_EVENT_PORT_ERR = 10;
  public static final int IBV_EVENT_LID_CHANGE = 11;
  public static final int IBV_EVENT_PKEY_CHANGE = 12;
  public static final int IBV_EVENT_SM_CHANGE = 13;
  public static final int IBV_EVENT_SRQ_ERR = 14;
  public static final int IBV_EVENT_SRQ_LIMIT_REACHED = 15;
  public static final int IBV_EVENT_QP_LAST_WQE_REACHED = 16;
  public static final int IBV_EVENT_CLIENT_REREGISTER = 17;
  public static final int IBV_EVENT_GID_CHANGE = 18;
  public static final int IBV_EVENT_WQ_FATAL = 19;

  // ibv_wc_status
  public static final int IBV_WC_SUCCESS = 0;
  public static final int IBV_WC_LOC_LEN_ERR = 1;
  public static final int IBV_WC_LOC_QP_OP_ERR = 2;
  public static final int IBV_WC_LOC_EEC_OP_ERR = 3;
  public static final int IBV_WC_LOC_PROT_ERR = 4;
  public static final int IBV_WC_WR_FLUSH_ERR = 5;
  public static final int IBV_WC_MW_BIND_ERR = 6;
  public static final int IBV_WC_BAD_RESP_ERR = 7;
  public static final int IBV_WC_LOC_ACCESS_ERR = 8;
  public static final int IBV_WC_REM_INV_REQ_ERR = 9;
  public static final int IBV_WC_REM_ACCESS_ERR = 10;
  public static final int IBV_WC_REM_OP_ERR = 11;
  public static final int IBV_WC_RETRY_EXC_ERR = 12;
  public static final int IBV_WC_RNR_RETRY_EXC_ERR = 13;
  public static final int IBV_WC_LOC_RDD_VIOL_ERR = 14;
  public static final int IBV_WC_REM_INV_RD_REQ_ERR = 15;
  public static final int IBV_WC_REM_ABORT_ERR = 16;
  public static final int IBV_WC_INV_EECN_ERR = 17;
  public static final int IBV_WC_INV_EEC_STATE_ERR = 18;
  public static final int IBV_WC_FATAL_ERR = 19;
  public static final int IBV_WC_RESP_TIMEOUT_ERR = 20;
  public static final int IBV_WC_GENERAL_ERR = 21;

  // ibv_wc_opcode
  public static final int IBV_WC_SEND = 0;
  public static final int IBV_WC_RDMA_WRITE = 1;
  public static final int IBV_WC_RDMA_READ = 2;
  public static final int IBV_WC_COMP_SWAP = 3;
  public static final int IBV_WC_FETCH_ADD = 4;
  public static final int IBV_WC_BIND_MW = 5;
  public static final int IBV_WC_LOCAL_INV = 6;
  public static final int IBV_WC_RECV = 128;
  public static final int IBV_WC_RECV_RDMA_WITH_IMM = 129;

  // ibv_create_cq_wc_flags
  public static final int IBV_WC_EX_WITH_BYTE_LEN = 1;
  public static final int IBV_WC_EX_WITH_IMM = 2;
  public static final int IBV_WC_EX_WITH_QP_NUM = 4;
  public static final int IBV_WC_EX_WITH_SRC_QP = 8;
  public static final int IBV_WC_EX_WITH_SLID = 16;
  public static final int IBV_WC_EX_WITH_SL = 32;
  public static final int IBV_WC_EX_WITH_DLID_PATH_BITS = 64;
  public static final int IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 128;
  public static final int IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK = 0x800;

  // ibv_wc_flags
  public static final int IBV_WC_GRH = 1;
  public static final int IBV_WC_WITH_IMM = 2;
  public static final int IBV_WC_IP_CSUM_OK = 4;
  public static final int IBV_WC_WITH_INV = 8;

  // ibv_access_flags
  public static final int IBV_ACCESS_LOCAL_WRITE = 1;
  public static final int IBV_ACCESS_REMOTE_WRITE = 2;
  public static final int IBV_ACCESS_REMOTE_READ = 4;
  public static final int IBV_ACCESS_REMOTE_ATOMIC = 8;
  public static final int IBV_ACCESS_MW_BIND = 16;
  public static final int IBV_ACCESS_ZERO_BASED = 32;
  public static final int IBV_ACCESS_ON_DEMAND = 64;
  public static final int IBV_ACCESS_HUGETLB = 128;

  // ibv_mw_type
  public static final int IBV_MW_TYPE_1 = 1;
  public static final int IBV_MW_TYPE_2 = 2;

  // ibv_srq_attr_mask
  public static final int IBV_SRQ_MAX_WR = 1;
  public static final int IBV_SRQ_LIMIT = 2;

  // ibv_qp_type
  public static final int IBV_QPT_RC = 2;
  public static final int IBV_QPT_UC = 3;
  public static final int IBV_QPT_UD = 4;
  public static final int IBV_QPT_RAW_PACKET = 8;

  // ibv_qp_init_attr_mask
  public static final int IBV_QP_INIT_ATTR_PD = 1;
  public static final int IBV_QP_INIT_ATTR_CREATE_FLAGS = 4;
  public static final int IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = 64;

  // ibv_qp_create_send_ops_flags
  public static final int IBV_QP_EX_WITH_RDMA_WRITE = 1;
  public static final int IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM = 2;
  public static final int IBV_QP_EX_WITH_SEND = 4;
  public static final int IBV_QP_EX_WITH_SEND_WITH_IMM = 8;
  public static final int IBV_QP_EX_WITH_RDMA_READ = 16;
  public static final int IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP = 32;
  public static final int IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD = 64;
  public static final int IBV_QP_EX_WITH_LOCAL_INV = 128;
  public static final int IBV_QP_EX_WITH_BIND_MW = 256;
  public static final int IBV_QP_EX_WITH_SEND_WITH_INV = 512;

  // ibv_qp_attr_mask
  public static final int IBV_QP_STATE = 1;
  public static final int IBV_QP_CUR_STATE = 2;
  public static final int IBV_QP_EN_SQD_ASYNC_NOTIFY = 4;
  public static final int IBV_QP_ACCESS_FLAGS = 8;
  public static final int IBV_QP_PKEY_INDEX = 16;
  public static final int IBV_QP_PORT = 32;
  public static final int IBV_QP_QKEY = 64;
  public static final int IBV_QP_AV = 128;
  public static final int IBV_QP_PATH_MTU = 256;
  public static final int IBV_QP_TIMEOUT = 512;
  public static final int IBV_QP_RETRY_CNT = 0x400;
  public static final int IBV_QP_RNR_RETRY = 0x800;
  public static final int IBV_QP_RQ_PSN = 0x1000;
  public static final int IBV_QP_MAX_QP_RD_ATOMIC = 0x2000;
  public static final int IBV_QP_ALT_PATH = 0x4000;
  public static final int IBV_QP_MIN_RNR_TIMER = 0x8000;
  public static final int IBV_QP_SQ_PSN = 0x10000;
  public static final int IBV_QP_MAX_DEST_RD_ATOMIC = 0x20000;
  public static final int IBV_QP_PATH_MIG_STATE = 0x40000;
  public static final int IBV_QP_CAP = 0x80000;
  public static final int IBV_QP_DEST_QPN = 0x100000;

  // ibv_qp_state
  public static final int IBV_QPS_RESET = 0;
  public static final int IBV_QPS_INIT = 1;
  public static final int IBV_QPS_RTR = 2;
  public static final int IBV_QPS_RTS = 3;
  public static final int IBV_QPS_SQD = 4;
  public static final int IBV_QPS_SQE = 5;
  public static final int IBV_QPS_ERR = 6;
  public static final int IBV_QPS_UNKNOWN = 7;

  // ibv_wr_opcode
  public static final int IBV_WR_RDMA_WRITE = 0;
  public static final int IBV_WR_RDMA_WRITE_WITH_IMM = 1;
  public static final int IBV_WR_SEND = 2;
  public static final int IBV_WR_SEND_WITH_IMM = 3;
  public static final int IBV_WR_RDMA_READ = 4;
  public static final int IBV_WR_ATOMIC_CMP_AND_SWP = 5;
  public static final int IBV_WR_ATOMIC_FETCH_AND_ADD = 6;
  public static final int IBV_WR_LOCAL_INV = 7;
  public static final int IBV_WR_BIND_MW = 8;
  public static final int IBV_WR_SEND_WITH_INV = 9;

  // ibv_send_flags
  public static final int IBV_SEND_FENCE = 1;
  public static final int IBV_SEND_SIGNALED = 2;
  public static final int IBV_SEND_SOLICITED = 4;
  public static final int IBV_SEND_INLINE = 8;
  public static final int IBV_SEND_IP_CSUM = 16;

  // ibv_cq_init_attr_mask
  public static final int IBV_CQ_INIT_ATTR_MASK_FLAGS = 1;
  public static final int IBV_CQ_INIT_ATTR_MASK_PD = 2;

  // ibv_create_cq_attr_flags
  public static final int IBV_CREATE_CQ_ATTR_SINGLE_THREADED = 1;
  public static final int IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN = 2;

  // ibv_cq_attr_mask
  public static final int IBV_CQ_ATTR_MODERATE = 1;

  // ibv_rereg_mr_flags
  public static final int IBV_REREG_MR_CHANGE_PD = 2;
  public static final int IBV_REREG_MR_CHANGE_ACCESS = 4;
  public static final int IBV_REREG_MR_FLAGS_SUPPORTED = 7;

  // link layers
  public static final int IBV_LINK_LAYER_UNSPECIFIED = 0;
  public static final int IBV_LINK_LAYER_INFINIBAND = 1;
  public static final int IBV_LINK_LAYER_ETHERNET = 2;

  // from the headers of the kernel
  public static final int IBV_ACCESS_RELAXED_ORDERING = 0x100000;
  public static final int IBV_ACCESS_OPTIONAL_RANGE = 0x3ff00000;
  public static final int IBV_QPF_GRH_REQUIRED = 1;
  public static final int IBV_ADVISE_MR_ADVICE_PREFETCH = 0;
  public static final int IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE = 1;
  public static final int IBV_ADVISE_MR_FLAG_FLUSH = 1;

  private VerbsConstants() {}
}
