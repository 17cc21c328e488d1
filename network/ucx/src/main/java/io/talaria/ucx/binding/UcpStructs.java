// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

import io.talaria.ffi.CStruct;
import java.util.List;

/**
 * The structures of {@code ucp.h}: offsets and sizes, under their names in C. A test compares each
 * with the installed headers. Where C has a union, the field stands for all of its members.
 */
public final class UcpStructs {
  /** {@code ucs_sock_addr_t}. */
  public static final class SockAddr {
    public static final CStruct STRUCT =
        CStruct.named("ucs_sock_addr_t").pointer("addr").int32("addrlen").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long ADDR = STRUCT.offset("addr");
    public static final long ADDRLEN = STRUCT.offset("addrlen");

    private SockAddr() {}
  }

  /** {@code ucp_dt_iov_t}. */
  public static final class Iov {
    public static final CStruct STRUCT =
        CStruct.named("ucp_dt_iov_t").pointer("buffer").int64("length").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long BUFFER = STRUCT.offset("buffer");
    public static final long LENGTH = STRUCT.offset("length");

    private Iov() {}
  }

  /** {@code ucp_params_t}. */
  public static final class Params {
    public static final CStruct STRUCT =
        CStruct.named("ucp_params_t")
            .int64("field_mask")
            .int64("features")
            .int64("request_size")
            .pointer("request_init")
            .pointer("request_cleanup")
            .int64("tag_sender_mask")
            .int32("mt_workers_shared")
            .int64("estimated_num_eps")
            .int64("estimated_num_ppn")
            .pointer("name")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long FEATURES = STRUCT.offset("features");
    public static final long REQUEST_SIZE = STRUCT.offset("request_size");
    public static final long REQUEST_INIT = STRUCT.offset("request_init");
    public static final long REQUEST_CLEANUP = STRUCT.offset("request_cleanup");
    public static final long TAG_SENDER_MASK = STRUCT.offset("tag_sender_mask");
    public static final long MT_WORKERS_SHARED = STRUCT.offset("mt_workers_shared");
    public static final long ESTIMATED_NUM_EPS = STRUCT.offset("estimated_num_eps");
    public static final long ESTIMATED_NUM_PPN = STRUCT.offset("estimated_num_ppn");
    public static final long NAME = STRUCT.offset("name");

    private Params() {}
  }

  /** {@code ucp_lib_attr_t}. */
  public static final class LibAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_lib_attr_t").int64("field_mask").int32("max_thread_level").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long MAX_THREAD_LEVEL = STRUCT.offset("max_thread_level");

    private LibAttr() {}
  }

  /** {@code ucp_context_attr_t}. */
  public static final class ContextAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_context_attr_t")
            .int64("field_mask")
            .int64("request_size")
            .int32("thread_mode")
            .int64("memory_types")
            .bytes("name", 32)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long REQUEST_SIZE = STRUCT.offset("request_size");
    public static final long THREAD_MODE = STRUCT.offset("thread_mode");
    public static final long MEMORY_TYPES = STRUCT.offset("memory_types");
    public static final long NAME = STRUCT.offset("name");

    private ContextAttr() {}
  }

  /** {@code ucp_worker_attr_t}. */
  public static final class WorkerAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_worker_attr_t")
            .int64("field_mask")
            .int32("thread_mode")
            .int32("address_flags")
            .pointer("address")
            .int64("address_length")
            .int64("max_am_header")
            .bytes("name", 32)
            .int64("max_debug_string")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long THREAD_MODE = STRUCT.offset("thread_mode");
    public static final long ADDRESS_FLAGS = STRUCT.offset("address_flags");
    public static final long ADDRESS = STRUCT.offset("address");
    public static final long ADDRESS_LENGTH = STRUCT.offset("address_length");
    public static final long MAX_AM_HEADER = STRUCT.offset("max_am_header");
    public static final long NAME = STRUCT.offset("name");
    public static final long MAX_DEBUG_STRING = STRUCT.offset("max_debug_string");

    private WorkerAttr() {}
  }

  /** {@code ucp_worker_params_t}. */
  public static final class WorkerParams {
    public static final CStruct STRUCT =
        CStruct.named("ucp_worker_params_t")
            .int64("field_mask")
            .int32("thread_mode")
            .words("cpu_mask", 128)
            .int32("events")
            .pointer("user_data")
            .int32("event_fd")
            .int64("flags")
            .pointer("name")
            .int64("am_alignment")
            .int64("client_id")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long THREAD_MODE = STRUCT.offset("thread_mode");
    public static final long CPU_MASK = STRUCT.offset("cpu_mask");
    public static final long EVENTS = STRUCT.offset("events");
    public static final long USER_DATA = STRUCT.offset("user_data");
    public static final long EVENT_FD = STRUCT.offset("event_fd");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long NAME = STRUCT.offset("name");
    public static final long AM_ALIGNMENT = STRUCT.offset("am_alignment");
    public static final long CLIENT_ID = STRUCT.offset("client_id");

    private WorkerParams() {}
  }

  /** {@code ucp_worker_address_attr_t}. */
  public static final class WorkerAddressAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_worker_address_attr_t").int64("field_mask").int64("worker_uid").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long WORKER_UID = STRUCT.offset("worker_uid");

    private WorkerAddressAttr() {}
  }

  /** {@code ucp_ep_evaluate_perf_param_t}. */
  public static final class EpEvaluatePerfParam {
    public static final CStruct STRUCT =
        CStruct.named("ucp_ep_evaluate_perf_param_t")
            .int64("field_mask")
            .int64("message_size")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long MESSAGE_SIZE = STRUCT.offset("message_size");

    private EpEvaluatePerfParam() {}
  }

  /** {@code ucp_ep_evaluate_perf_attr_t}. */
  public static final class EpEvaluatePerfAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_ep_evaluate_perf_attr_t")
            .int64("field_mask")
            .float64("estimated_time")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long ESTIMATED_TIME = STRUCT.offset("estimated_time");

    private EpEvaluatePerfAttr() {}
  }

  /** {@code ucp_listener_attr_t}. */
  public static final class ListenerAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_listener_attr_t").int64("field_mask").words("sockaddr", 128).build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long SOCKADDR = STRUCT.offset("sockaddr");

    private ListenerAttr() {}
  }

  /** {@code ucp_conn_request_attr_t}. */
  public static final class ConnRequestAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_conn_request_attr_t")
            .int64("field_mask")
            .words("client_address", 128)
            .int64("client_id")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long CLIENT_ADDRESS = STRUCT.offset("client_address");
    public static final long CLIENT_ID = STRUCT.offset("client_id");

    private ConnRequestAttr() {}
  }

  /** {@code ucp_listener_params_t}. */
  public static final class ListenerParams {
    public static final CStruct STRUCT =
        CStruct.named("ucp_listener_params_t")
            .int64("field_mask")
            .struct("sockaddr", SockAddr.STRUCT)
            .pointer("accept_handler.cb")
            .pointer("accept_handler.arg")
            .pointer("conn_handler.cb")
            .pointer("conn_handler.arg")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long SOCKADDR_ADDR = STRUCT.offset("sockaddr.addr");
    public static final long SOCKADDR_ADDRLEN = STRUCT.offset("sockaddr.addrlen");
    public static final long ACCEPT_HANDLER_CB = STRUCT.offset("accept_handler.cb");
    public static final long ACCEPT_HANDLER_ARG = STRUCT.offset("accept_handler.arg");
    public static final long CONN_HANDLER_CB = STRUCT.offset("conn_handler.cb");
    public static final long CONN_HANDLER_ARG = STRUCT.offset("conn_handler.arg");

    private ListenerParams() {}
  }

  /** {@code ucp_stream_poll_ep_t}. */
  public static final class StreamPollEp {
    public static final CStruct STRUCT =
        CStruct.named("ucp_stream_poll_ep_t")
            .pointer("ep")
            .pointer("user_data")
            .int32("flags")
            .bytes("reserved", 16)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long EP = STRUCT.offset("ep");
    public static final long USER_DATA = STRUCT.offset("user_data");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long RESERVED = STRUCT.offset("reserved");

    private StreamPollEp() {}
  }

  /** {@code ucp_mem_map_params_t}. */
  public static final class MemMapParams {
    public static final CStruct STRUCT =
        CStruct.named("ucp_mem_map_params_t")
            .int64("field_mask")
            .pointer("address")
            .int64("length")
            .int32("flags")
            .int32("prot")
            .int32("memory_type")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long ADDRESS = STRUCT.offset("address");
    public static final long LENGTH = STRUCT.offset("length");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long PROT = STRUCT.offset("prot");
    public static final long MEMORY_TYPE = STRUCT.offset("memory_type");

    private MemMapParams() {}
  }

  /** {@code ucp_mem_attr_t}. */
  public static final class MemAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_mem_attr_t")
            .int64("field_mask")
            .pointer("address")
            .int64("length")
            .int32("mem_type")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long ADDRESS = STRUCT.offset("address");
    public static final long LENGTH = STRUCT.offset("length");
    public static final long MEM_TYPE = STRUCT.offset("mem_type");

    private MemAttr() {}
  }

  /** {@code ucp_mem_advise_params_t}. */
  public static final class MemAdviseParams {
    public static final CStruct STRUCT =
        CStruct.named("ucp_mem_advise_params_t")
            .int64("field_mask")
            .pointer("address")
            .int64("length")
            .int32("advice")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long ADDRESS = STRUCT.offset("address");
    public static final long LENGTH = STRUCT.offset("length");
    public static final long ADVICE = STRUCT.offset("advice");

    private MemAdviseParams() {}
  }

  /** {@code ucp_tag_recv_info_t}. */
  public static final class TagRecvInfo {
    public static final CStruct STRUCT =
        CStruct.named("ucp_tag_recv_info_t").int64("sender_tag").int64("length").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long SENDER_TAG = STRUCT.offset("sender_tag");
    public static final long LENGTH = STRUCT.offset("length");

    private TagRecvInfo() {}
  }

  /** {@code ucp_request_param_t}. */
  public static final class RequestParam {
    public static final CStruct STRUCT =
        CStruct.named("ucp_request_param_t")
            .int32("op_attr_mask")
            .int32("flags")
            .pointer("request")
            .pointer("cb")
            .int64("datatype")
            .pointer("user_data")
            .pointer("reply_buffer")
            .int32("memory_type")
            .pointer("recv_info")
            .pointer("memh")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long OP_ATTR_MASK = STRUCT.offset("op_attr_mask");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long REQUEST = STRUCT.offset("request");
    public static final long CB = STRUCT.offset("cb");
    public static final long DATATYPE = STRUCT.offset("datatype");
    public static final long USER_DATA = STRUCT.offset("user_data");
    public static final long REPLY_BUFFER = STRUCT.offset("reply_buffer");
    public static final long MEMORY_TYPE = STRUCT.offset("memory_type");
    public static final long RECV_INFO = STRUCT.offset("recv_info");
    public static final long MEMH = STRUCT.offset("memh");

    private RequestParam() {}
  }

  /** {@code ucp_request_attr_t}. */
  public static final class RequestAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_request_attr_t")
            .int64("field_mask")
            .pointer("debug_string")
            .int64("debug_string_size")
            .int8("status")
            .int32("mem_type")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long DEBUG_STRING = STRUCT.offset("debug_string");
    public static final long DEBUG_STRING_SIZE = STRUCT.offset("debug_string_size");
    public static final long STATUS = STRUCT.offset("status");
    public static final long MEM_TYPE = STRUCT.offset("mem_type");

    private RequestAttr() {}
  }

  /** {@code ucp_am_handler_param_t}. */
  public static final class AmHandlerParam {
    public static final CStruct STRUCT =
        CStruct.named("ucp_am_handler_param_t")
            .int64("field_mask")
            .int32("id")
            .int32("flags")
            .pointer("cb")
            .pointer("arg")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long ID = STRUCT.offset("id");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long CB = STRUCT.offset("cb");
    public static final long ARG = STRUCT.offset("arg");

    private AmHandlerParam() {}
  }

  /** {@code ucp_am_recv_param_t}. */
  public static final class AmRecvParam {
    public static final CStruct STRUCT =
        CStruct.named("ucp_am_recv_param_t").int64("recv_attr").pointer("reply_ep").build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long RECV_ATTR = STRUCT.offset("recv_attr");
    public static final long REPLY_EP = STRUCT.offset("reply_ep");

    private AmRecvParam() {}
  }

  /** {@code ucp_ep_params_t}. */
  public static final class EpParams {
    public static final CStruct STRUCT =
        CStruct.named("ucp_ep_params_t")
            .int64("field_mask")
            .pointer("address")
            .int32("err_mode")
            .pointer("err_handler.cb")
            .pointer("err_handler.arg")
            .pointer("user_data")
            .int32("flags")
            .struct("sockaddr", SockAddr.STRUCT)
            .pointer("conn_request")
            .pointer("name")
            .struct("local_sockaddr", SockAddr.STRUCT)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long ADDRESS = STRUCT.offset("address");
    public static final long ERR_TRANSPORT = STRUCT.offset("err_mode");
    public static final long ERR_HANDLER_CB = STRUCT.offset("err_handler.cb");
    public static final long ERR_HANDLER_ARG = STRUCT.offset("err_handler.arg");
    public static final long USER_DATA = STRUCT.offset("user_data");
    public static final long FLAGS = STRUCT.offset("flags");
    public static final long SOCKADDR_ADDR = STRUCT.offset("sockaddr.addr");
    public static final long SOCKADDR_ADDRLEN = STRUCT.offset("sockaddr.addrlen");
    public static final long CONN_REQUEST = STRUCT.offset("conn_request");
    public static final long NAME = STRUCT.offset("name");
    public static final long LOCAL_SOCKADDR_ADDR = STRUCT.offset("local_sockaddr.addr");
    public static final long LOCAL_SOCKADDR_ADDRLEN = STRUCT.offset("local_sockaddr.addrlen");

    private EpParams() {}
  }

  /** {@code ucp_ep_attr_t}. */
  public static final class EpAttr {
    public static final CStruct STRUCT =
        CStruct.named("ucp_ep_attr_t")
            .int64("field_mask")
            .bytes("name", 32)
            .words("local_sockaddr", 128)
            .words("remote_sockaddr", 128)
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long NAME = STRUCT.offset("name");
    public static final long LOCAL_SOCKADDR = STRUCT.offset("local_sockaddr");
    public static final long REMOTE_SOCKADDR = STRUCT.offset("remote_sockaddr");

    private EpAttr() {}
  }

  /** {@code ucp_transport_entry_t}. */
  public static final class TransportEntry {
    public static final CStruct STRUCT =
        CStruct.named("ucp_transport_entry_t")
            .pointer("transport_name")
            .pointer("device_name")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long TRANSPORT_NAME = STRUCT.offset("transport_name");
    public static final long DEVICE_NAME = STRUCT.offset("device_name");

    private TransportEntry() {}
  }

  /** {@code ucp_ep_attr_t} as it is from UCX 1.14 on. */
  public static final class EpAttr14 {
    public static final CStruct STRUCT =
        CStruct.named("ucp_ep_attr_t")
            .int64("field_mask")
            .bytes("name", 32)
            .words("local_sockaddr", 128)
            .words("remote_sockaddr", 128)
            .pointer("transports.entries")
            .int32("transports.num_entries")
            .int64("transports.entry_size")
            .pointer("user_data")
            .build();
    public static final long SIZE = STRUCT.sizeBytes();
    public static final long FIELD_MASK = STRUCT.offset("field_mask");
    public static final long NAME = STRUCT.offset("name");
    public static final long LOCAL_SOCKADDR = STRUCT.offset("local_sockaddr");
    public static final long REMOTE_SOCKADDR = STRUCT.offset("remote_sockaddr");
    public static final long TRANSPORTS_ENTRIES = STRUCT.offset("transports.entries");
    public static final long TRANSPORTS_NUM_ENTRIES = STRUCT.offset("transports.num_entries");
    public static final long TRANSPORTS_ENTRY_SIZE = STRUCT.offset("transports.entry_size");
    public static final long USER_DATA = STRUCT.offset("user_data");

    private EpAttr14() {}
  }

  private UcpStructs() {}

  /**
   * All structures that UCX 1.12 and 1.13 have.
   *
   * @return the structures
   */
  public static List<CStruct> all() {
    return List.of(
        SockAddr.STRUCT,
        Iov.STRUCT,
        Params.STRUCT,
        LibAttr.STRUCT,
        ContextAttr.STRUCT,
        WorkerAttr.STRUCT,
        WorkerParams.STRUCT,
        WorkerAddressAttr.STRUCT,
        EpEvaluatePerfParam.STRUCT,
        EpEvaluatePerfAttr.STRUCT,
        ListenerAttr.STRUCT,
        ConnRequestAttr.STRUCT,
        ListenerParams.STRUCT,
        StreamPollEp.STRUCT,
        MemMapParams.STRUCT,
        MemAttr.STRUCT,
        MemAdviseParams.STRUCT,
        TagRecvInfo.STRUCT,
        RequestParam.STRUCT,
        RequestAttr.STRUCT,
        AmHandlerParam.STRUCT,
        AmRecvParam.STRUCT,
        EpParams.STRUCT,
        EpAttr.STRUCT);
  }

  /**
   * What UCX has from 1.14 on.
   *
   * @return the structures
   */
  public static List<CStruct> from14() {
    return List.of(TransportEntry.STRUCT, EpAttr14.STRUCT);
  }
}
