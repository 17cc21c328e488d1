// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * The functions of {@code ucp.h}, one method each, under their names without {@code ucp_}.
 *
 * <p>Nothing is checked here. Pointers, handles and {@code size_t} are longs; a {@code
 * ucs_status_t}, which is a single byte in C, comes as an int; a {@code ucs_status_ptr_t} is a long
 * that {@link StatusPointer} explains. Methods whose name ends in {@code Critical} must only be
 * called while nothing that UCX may call back into is Java: see {@link UcxLibrary}. Small transfers
 * alone are critical: what may copy or register much would hold up safepoints.
 *
 * <p>A function that the library lacks throws {@link io.talaria.ffi.MissingSymbolException}.
 */
public final class Ucp {
  private static final NativeLibrary UCX = UcxLibrary.required().library();

  private static final MethodHandle UCP_LIB_QUERY =
      UCX.plain("ucp_lib_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle UCP_GET_VERSION =
      UCX.plain("ucp_get_version", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_GET_VERSION_STRING =
      UCX.plain("ucp_get_version_string", FunctionDescriptor.of(JAVA_LONG));
  private static final MethodHandle UCP_CONFIG_READ =
      UCX.plain(
          "ucp_config_read", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_CONFIG_RELEASE =
      UCX.plain("ucp_config_release", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCP_CONFIG_MODIFY =
      UCX.plain(
          "ucp_config_modify", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_CONFIG_PRINT =
      UCX.plain(
          "ucp_config_print", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle UCP_INIT_VERSION =
      UCX.plain(
          "ucp_init_version",
          FunctionDescriptor.of(JAVA_BYTE, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_CLEANUP =
      UCX.plain("ucp_cleanup", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCP_CONTEXT_QUERY =
      UCX.plain("ucp_context_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_CONTEXT_PRINT_INFO =
      UCX.plain("ucp_context_print_info", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_CREATE =
      UCX.plain(
          "ucp_worker_create", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_DESTROY =
      UCX.plain("ucp_worker_destroy", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCP_WORKER_QUERY =
      UCX.plain("ucp_worker_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_PRINT_INFO =
      UCX.plain("ucp_worker_print_info", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_GET_ADDRESS =
      UCX.plain(
          "ucp_worker_get_address",
          FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_RELEASE_ADDRESS =
      UCX.plain("ucp_worker_release_address", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_ADDRESS_QUERY =
      UCX.plain("ucp_worker_address_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_PROGRESS =
      UCX.plain("ucp_worker_progress", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_PROGRESS_CRITICAL =
      UCX.critical("ucp_worker_progress", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_GET_EFD =
      UCX.plain("ucp_worker_get_efd", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_WAIT =
      UCX.plain("ucp_worker_wait", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_WAIT_MEM =
      UCX.plain("ucp_worker_wait_mem", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_ARM =
      UCX.plain("ucp_worker_arm", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_SIGNAL =
      UCX.plain("ucp_worker_signal", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_FENCE =
      UCX.plain("ucp_worker_fence", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_FLUSH_NBX =
      UCX.plain("ucp_worker_flush_nbx", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_FLUSH_NBX_CRITICAL =
      UCX.critical("ucp_worker_flush_nbx", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_LISTENER_CREATE =
      UCX.plain(
          "ucp_listener_create", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_LISTENER_DESTROY =
      UCX.plain("ucp_listener_destroy", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCP_LISTENER_QUERY =
      UCX.plain("ucp_listener_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_LISTENER_REJECT =
      UCX.plain("ucp_listener_reject", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_CONN_REQUEST_QUERY =
      UCX.plain("ucp_conn_request_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_EP_CREATE =
      UCX.plain("ucp_ep_create", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_EP_CLOSE_NBX =
      UCX.plain("ucp_ep_close_nbx", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_EP_FLUSH_NBX =
      UCX.plain("ucp_ep_flush_nbx", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_EP_FLUSH_NBX_CRITICAL =
      UCX.critical("ucp_ep_flush_nbx", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_EP_QUERY =
      UCX.plain("ucp_ep_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_EP_PRINT_INFO =
      UCX.plain("ucp_ep_print_info", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_EP_EVALUATE_PERF =
      UCX.plain(
          "ucp_ep_evaluate_perf",
          FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_MEM_MAP =
      UCX.plain("ucp_mem_map", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_MEM_UNMAP =
      UCX.plain("ucp_mem_unmap", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_MEM_QUERY =
      UCX.plain("ucp_mem_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_MEM_ADVISE =
      UCX.plain(
          "ucp_mem_advise", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_MEM_PRINT_INFO =
      UCX.plain("ucp_mem_print_info", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_RKEY_PACK =
      UCX.plain(
          "ucp_rkey_pack",
          FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_RKEY_BUFFER_RELEASE =
      UCX.plain("ucp_rkey_buffer_release", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCP_EP_RKEY_UNPACK =
      UCX.plain(
          "ucp_ep_rkey_unpack", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_RKEY_PTR =
      UCX.plain("ucp_rkey_ptr", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_RKEY_DESTROY =
      UCX.plain("ucp_rkey_destroy", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCP_STREAM_SEND_NBX =
      UCX.plain(
          "ucp_stream_send_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_SEND_NBX_CRITICAL =
      UCX.critical(
          "ucp_stream_send_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_RECV_NBX =
      UCX.plain(
          "ucp_stream_recv_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_RECV_NBX_CRITICAL =
      UCX.critical(
          "ucp_stream_recv_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_RECV_DATA_NB =
      UCX.plain("ucp_stream_recv_data_nb", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_RECV_DATA_NB_CRITICAL =
      UCX.critical(
          "ucp_stream_recv_data_nb", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_DATA_RELEASE =
      UCX.plain("ucp_stream_data_release", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_DATA_RELEASE_CRITICAL =
      UCX.critical("ucp_stream_data_release", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_RECV_REQUEST_TEST =
      UCX.plain(
          "ucp_stream_recv_request_test", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_RECV_REQUEST_TEST_CRITICAL =
      UCX.critical(
          "ucp_stream_recv_request_test", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_STREAM_WORKER_POLL =
      UCX.plain(
          "ucp_stream_worker_poll",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle UCP_STREAM_WORKER_POLL_CRITICAL =
      UCX.critical(
          "ucp_stream_worker_poll",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle UCP_TAG_SEND_NBX =
      UCX.plain(
          "ucp_tag_send_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_SEND_NBX_CRITICAL =
      UCX.critical(
          "ucp_tag_send_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_SEND_SYNC_NBX =
      UCX.plain(
          "ucp_tag_send_sync_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_SEND_SYNC_NBX_CRITICAL =
      UCX.critical(
          "ucp_tag_send_sync_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_RECV_NBX =
      UCX.plain(
          "ucp_tag_recv_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_RECV_NBX_CRITICAL =
      UCX.critical(
          "ucp_tag_recv_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_PROBE_NB =
      UCX.plain(
          "ucp_tag_probe_nb",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle UCP_TAG_PROBE_NB_CRITICAL =
      UCX.critical(
          "ucp_tag_probe_nb",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle UCP_TAG_MSG_RECV_NBX =
      UCX.plain(
          "ucp_tag_msg_recv_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_MSG_RECV_NBX_CRITICAL =
      UCX.critical(
          "ucp_tag_msg_recv_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_RECV_REQUEST_TEST =
      UCX.plain(
          "ucp_tag_recv_request_test", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_TAG_RECV_REQUEST_TEST_CRITICAL =
      UCX.critical(
          "ucp_tag_recv_request_test", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_WORKER_SET_AM_RECV_HANDLER =
      UCX.plain(
          "ucp_worker_set_am_recv_handler", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_AM_SEND_NBX =
      UCX.plain(
          "ucp_am_send_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG));
  private static final MethodHandle UCP_AM_SEND_NBX_CRITICAL =
      UCX.critical(
          "ucp_am_send_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG));
  private static final MethodHandle UCP_AM_RECV_DATA_NBX =
      UCX.plain(
          "ucp_am_recv_data_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_AM_RECV_DATA_NBX_CRITICAL =
      UCX.critical(
          "ucp_am_recv_data_nbx",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_AM_DATA_RELEASE =
      UCX.plain("ucp_am_data_release", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_AM_DATA_RELEASE_CRITICAL =
      UCX.critical("ucp_am_data_release", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_PUT_NBX =
      UCX.plain(
          "ucp_put_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_PUT_NBX_CRITICAL =
      UCX.critical(
          "ucp_put_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_GET_NBX =
      UCX.plain(
          "ucp_get_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_GET_NBX_CRITICAL =
      UCX.critical(
          "ucp_get_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_ATOMIC_OP_NBX =
      UCX.plain(
          "ucp_atomic_op_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG));
  private static final MethodHandle UCP_ATOMIC_OP_NBX_CRITICAL =
      UCX.critical(
          "ucp_atomic_op_nbx",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG));
  private static final MethodHandle UCP_REQUEST_CHECK_STATUS =
      UCX.plain("ucp_request_check_status", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle UCP_REQUEST_CHECK_STATUS_CRITICAL =
      UCX.critical("ucp_request_check_status", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  private static final MethodHandle UCP_REQUEST_QUERY =
      UCX.plain("ucp_request_query", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_REQUEST_CANCEL =
      UCX.plain("ucp_request_cancel", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle UCP_REQUEST_FREE =
      UCX.plain("ucp_request_free", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCP_REQUEST_FREE_CRITICAL =
      UCX.critical("ucp_request_free", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle UCS_STATUS_STRING =
      UCX.plain("ucs_status_string", FunctionDescriptor.of(JAVA_LONG, JAVA_BYTE));
  private static final MethodHandle UCS_DEBUG_DISABLE_SIGNALS =
      UCX.plain("ucs_debug_disable_signals", FunctionDescriptor.ofVoid());

  private Ucp() {}

  /** {@code ucp_lib_query}. */
  public static int libQuery(long attr) {
    try {
      return (byte) UCP_LIB_QUERY.invokeExact(attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_get_version}. */
  public static void getVersion(long major, long minor, long release) {
    try {
      UCP_GET_VERSION.invokeExact(major, minor, release);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_get_version_string}. */
  public static long getVersionString() {
    try {
      return (long) UCP_GET_VERSION_STRING.invokeExact();
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_config_read}. */
  public static int configRead(long prefix, long file, long configOut) {
    try {
      return (byte) UCP_CONFIG_READ.invokeExact(prefix, file, configOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_config_release}. */
  public static void configRelease(long config) {
    try {
      UCP_CONFIG_RELEASE.invokeExact(config);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_config_modify}. */
  public static int configModify(long config, long name, long value) {
    try {
      return (byte) UCP_CONFIG_MODIFY.invokeExact(config, name, value);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_config_print}. */
  public static void configPrint(long config, long stream, long title, int flags) {
    try {
      UCP_CONFIG_PRINT.invokeExact(config, stream, title, flags);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_init_version}. */
  public static int initVersion(int major, int minor, long params, long config, long contextOut) {
    try {
      return (byte) UCP_INIT_VERSION.invokeExact(major, minor, params, config, contextOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_cleanup}. */
  public static void cleanup(long context) {
    try {
      UCP_CLEANUP.invokeExact(context);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_context_query}. */
  public static int contextQuery(long context, long attr) {
    try {
      return (byte) UCP_CONTEXT_QUERY.invokeExact(context, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_context_print_info}. */
  public static void contextPrintInfo(long context, long stream) {
    try {
      UCP_CONTEXT_PRINT_INFO.invokeExact(context, stream);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_create}. */
  public static int workerCreate(long context, long params, long workerOut) {
    try {
      return (byte) UCP_WORKER_CREATE.invokeExact(context, params, workerOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_destroy}. */
  public static void workerDestroy(long worker) {
    try {
      UCP_WORKER_DESTROY.invokeExact(worker);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_query}. */
  public static int workerQuery(long worker, long attr) {
    try {
      return (byte) UCP_WORKER_QUERY.invokeExact(worker, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_print_info}. */
  public static void workerPrintInfo(long worker, long stream) {
    try {
      UCP_WORKER_PRINT_INFO.invokeExact(worker, stream);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_get_address}. */
  public static int workerGetAddress(long worker, long addressOut, long lengthOut) {
    try {
      return (byte) UCP_WORKER_GET_ADDRESS.invokeExact(worker, addressOut, lengthOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_release_address}. */
  public static void workerReleaseAddress(long worker, long address) {
    try {
      UCP_WORKER_RELEASE_ADDRESS.invokeExact(worker, address);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_address_query}. */
  public static int workerAddressQuery(long address, long attr) {
    try {
      return (byte) UCP_WORKER_ADDRESS_QUERY.invokeExact(address, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_progress}. */
  public static int workerProgress(long worker) {
    try {
      return (int) UCP_WORKER_PROGRESS.invokeExact(worker);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_progress}, a critical call. */
  public static int workerProgressCritical(long worker) {
    try {
      return (int) UCP_WORKER_PROGRESS_CRITICAL.invokeExact(worker);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_get_efd}. */
  public static int workerGetEfd(long worker, long fdOut) {
    try {
      return (byte) UCP_WORKER_GET_EFD.invokeExact(worker, fdOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_wait}. */
  public static int workerWait(long worker) {
    try {
      return (byte) UCP_WORKER_WAIT.invokeExact(worker);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_wait_mem}. */
  public static void workerWaitMem(long worker, long address) {
    try {
      UCP_WORKER_WAIT_MEM.invokeExact(worker, address);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_arm}. */
  public static int workerArm(long worker) {
    try {
      return (byte) UCP_WORKER_ARM.invokeExact(worker);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_signal}. */
  public static int workerSignal(long worker) {
    try {
      return (byte) UCP_WORKER_SIGNAL.invokeExact(worker);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_fence}. */
  public static int workerFence(long worker) {
    try {
      return (byte) UCP_WORKER_FENCE.invokeExact(worker);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_flush_nbx}. */
  public static long workerFlushNbx(long worker, long param) {
    try {
      return (long) UCP_WORKER_FLUSH_NBX.invokeExact(worker, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_flush_nbx}, a critical call. */
  public static long workerFlushNbxCritical(long worker, long param) {
    try {
      return (long) UCP_WORKER_FLUSH_NBX_CRITICAL.invokeExact(worker, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_listener_create}. */
  public static int listenerCreate(long worker, long params, long listenerOut) {
    try {
      return (byte) UCP_LISTENER_CREATE.invokeExact(worker, params, listenerOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_listener_destroy}. */
  public static void listenerDestroy(long listener) {
    try {
      UCP_LISTENER_DESTROY.invokeExact(listener);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_listener_query}. */
  public static int listenerQuery(long listener, long attr) {
    try {
      return (byte) UCP_LISTENER_QUERY.invokeExact(listener, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_listener_reject}. */
  public static int listenerReject(long listener, long connRequest) {
    try {
      return (byte) UCP_LISTENER_REJECT.invokeExact(listener, connRequest);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_conn_request_query}. */
  public static int connRequestQuery(long connRequest, long attr) {
    try {
      return (byte) UCP_CONN_REQUEST_QUERY.invokeExact(connRequest, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_create}. */
  public static int epCreate(long worker, long params, long epOut) {
    try {
      return (byte) UCP_EP_CREATE.invokeExact(worker, params, epOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_close_nbx}. */
  public static long epCloseNbx(long ep, long param) {
    try {
      return (long) UCP_EP_CLOSE_NBX.invokeExact(ep, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_flush_nbx}. */
  public static long epFlushNbx(long ep, long param) {
    try {
      return (long) UCP_EP_FLUSH_NBX.invokeExact(ep, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_flush_nbx}, a critical call. */
  public static long epFlushNbxCritical(long ep, long param) {
    try {
      return (long) UCP_EP_FLUSH_NBX_CRITICAL.invokeExact(ep, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_query}. */
  public static int epQuery(long ep, long attr) {
    try {
      return (byte) UCP_EP_QUERY.invokeExact(ep, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_print_info}. */
  public static void epPrintInfo(long ep, long stream) {
    try {
      UCP_EP_PRINT_INFO.invokeExact(ep, stream);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_evaluate_perf}. */
  public static int epEvaluatePerf(long ep, long param, long attr) {
    try {
      return (byte) UCP_EP_EVALUATE_PERF.invokeExact(ep, param, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_mem_map}. */
  public static int memMap(long context, long params, long memhOut) {
    try {
      return (byte) UCP_MEM_MAP.invokeExact(context, params, memhOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_mem_unmap}. */
  public static int memUnmap(long context, long memh) {
    try {
      return (byte) UCP_MEM_UNMAP.invokeExact(context, memh);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_mem_query}. */
  public static int memQuery(long memh, long attr) {
    try {
      return (byte) UCP_MEM_QUERY.invokeExact(memh, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_mem_advise}. */
  public static int memAdvise(long context, long memh, long params) {
    try {
      return (byte) UCP_MEM_ADVISE.invokeExact(context, memh, params);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_mem_print_info}. */
  public static void memPrintInfo(long size, long context, long stream) {
    try {
      UCP_MEM_PRINT_INFO.invokeExact(size, context, stream);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_rkey_pack}. */
  public static int rkeyPack(long context, long memh, long bufferOut, long sizeOut) {
    try {
      return (byte) UCP_RKEY_PACK.invokeExact(context, memh, bufferOut, sizeOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_rkey_buffer_release}. */
  public static void rkeyBufferRelease(long buffer) {
    try {
      UCP_RKEY_BUFFER_RELEASE.invokeExact(buffer);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_ep_rkey_unpack}. */
  public static int epRkeyUnpack(long ep, long buffer, long rkeyOut) {
    try {
      return (byte) UCP_EP_RKEY_UNPACK.invokeExact(ep, buffer, rkeyOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_rkey_ptr}. */
  public static int rkeyPtr(long rkey, long remoteAddress, long addressOut) {
    try {
      return (byte) UCP_RKEY_PTR.invokeExact(rkey, remoteAddress, addressOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_rkey_destroy}. */
  public static void rkeyDestroy(long rkey) {
    try {
      UCP_RKEY_DESTROY.invokeExact(rkey);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_send_nbx}. */
  public static long streamSendNbx(long ep, long buffer, long count, long param) {
    try {
      return (long) UCP_STREAM_SEND_NBX.invokeExact(ep, buffer, count, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_send_nbx}, a critical call. */
  public static long streamSendNbxCritical(long ep, long buffer, long count, long param) {
    try {
      return (long) UCP_STREAM_SEND_NBX_CRITICAL.invokeExact(ep, buffer, count, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_recv_nbx}. */
  public static long streamRecvNbx(long ep, long buffer, long count, long lengthOut, long param) {
    try {
      return (long) UCP_STREAM_RECV_NBX.invokeExact(ep, buffer, count, lengthOut, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_recv_nbx}, a critical call. */
  public static long streamRecvNbxCritical(
      long ep, long buffer, long count, long lengthOut, long param) {
    try {
      return (long) UCP_STREAM_RECV_NBX_CRITICAL.invokeExact(ep, buffer, count, lengthOut, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_recv_data_nb}. */
  public static long streamRecvDataNb(long ep, long lengthOut) {
    try {
      return (long) UCP_STREAM_RECV_DATA_NB.invokeExact(ep, lengthOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_recv_data_nb}, a critical call. */
  public static long streamRecvDataNbCritical(long ep, long lengthOut) {
    try {
      return (long) UCP_STREAM_RECV_DATA_NB_CRITICAL.invokeExact(ep, lengthOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_data_release}. */
  public static void streamDataRelease(long ep, long data) {
    try {
      UCP_STREAM_DATA_RELEASE.invokeExact(ep, data);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_data_release}, a critical call. */
  public static void streamDataReleaseCritical(long ep, long data) {
    try {
      UCP_STREAM_DATA_RELEASE_CRITICAL.invokeExact(ep, data);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_recv_request_test}. */
  public static int streamRecvRequestTest(long request, long lengthOut) {
    try {
      return (byte) UCP_STREAM_RECV_REQUEST_TEST.invokeExact(request, lengthOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_recv_request_test}, a critical call. */
  public static int streamRecvRequestTestCritical(long request, long lengthOut) {
    try {
      return (byte) UCP_STREAM_RECV_REQUEST_TEST_CRITICAL.invokeExact(request, lengthOut);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_worker_poll}. */
  public static long streamWorkerPoll(long worker, long polled, long max, int flags) {
    try {
      return (long) UCP_STREAM_WORKER_POLL.invokeExact(worker, polled, max, flags);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_stream_worker_poll}, a critical call. */
  public static long streamWorkerPollCritical(long worker, long polled, long max, int flags) {
    try {
      return (long) UCP_STREAM_WORKER_POLL_CRITICAL.invokeExact(worker, polled, max, flags);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_send_nbx}. */
  public static long tagSendNbx(long ep, long buffer, long count, long tag, long param) {
    try {
      return (long) UCP_TAG_SEND_NBX.invokeExact(ep, buffer, count, tag, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_send_nbx}, a critical call. */
  public static long tagSendNbxCritical(long ep, long buffer, long count, long tag, long param) {
    try {
      return (long) UCP_TAG_SEND_NBX_CRITICAL.invokeExact(ep, buffer, count, tag, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_send_sync_nbx}. */
  public static long tagSendSyncNbx(long ep, long buffer, long count, long tag, long param) {
    try {
      return (long) UCP_TAG_SEND_SYNC_NBX.invokeExact(ep, buffer, count, tag, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_send_sync_nbx}, a critical call. */
  public static long tagSendSyncNbxCritical(
      long ep, long buffer, long count, long tag, long param) {
    try {
      return (long) UCP_TAG_SEND_SYNC_NBX_CRITICAL.invokeExact(ep, buffer, count, tag, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_recv_nbx}. */
  public static long tagRecvNbx(
      long worker, long buffer, long count, long tag, long mask, long param) {
    try {
      return (long) UCP_TAG_RECV_NBX.invokeExact(worker, buffer, count, tag, mask, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_recv_nbx}, a critical call. */
  public static long tagRecvNbxCritical(
      long worker, long buffer, long count, long tag, long mask, long param) {
    try {
      return (long) UCP_TAG_RECV_NBX_CRITICAL.invokeExact(worker, buffer, count, tag, mask, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_probe_nb}. */
  public static long tagProbeNb(long worker, long tag, long mask, int remove, long info) {
    try {
      return (long) UCP_TAG_PROBE_NB.invokeExact(worker, tag, mask, remove, info);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_probe_nb}, a critical call. */
  public static long tagProbeNbCritical(long worker, long tag, long mask, int remove, long info) {
    try {
      return (long) UCP_TAG_PROBE_NB_CRITICAL.invokeExact(worker, tag, mask, remove, info);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_msg_recv_nbx}. */
  public static long tagMsgRecvNbx(long worker, long buffer, long count, long message, long param) {
    try {
      return (long) UCP_TAG_MSG_RECV_NBX.invokeExact(worker, buffer, count, message, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_msg_recv_nbx}, a critical call. */
  public static long tagMsgRecvNbxCritical(
      long worker, long buffer, long count, long message, long param) {
    try {
      return (long)
          UCP_TAG_MSG_RECV_NBX_CRITICAL.invokeExact(worker, buffer, count, message, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_recv_request_test}. */
  public static int tagRecvRequestTest(long request, long info) {
    try {
      return (byte) UCP_TAG_RECV_REQUEST_TEST.invokeExact(request, info);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_tag_recv_request_test}, a critical call. */
  public static int tagRecvRequestTestCritical(long request, long info) {
    try {
      return (byte) UCP_TAG_RECV_REQUEST_TEST_CRITICAL.invokeExact(request, info);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_worker_set_am_recv_handler}. */
  public static int workerSetAmRecvHandler(long worker, long param) {
    try {
      return (byte) UCP_WORKER_SET_AM_RECV_HANDLER.invokeExact(worker, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_am_send_nbx}. */
  public static long amSendNbx(
      long ep, int id, long header, long headerLength, long buffer, long count, long param) {
    try {
      return (long) UCP_AM_SEND_NBX.invokeExact(ep, id, header, headerLength, buffer, count, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_am_send_nbx}, a critical call. */
  public static long amSendNbxCritical(
      long ep, int id, long header, long headerLength, long buffer, long count, long param) {
    try {
      return (long)
          UCP_AM_SEND_NBX_CRITICAL.invokeExact(ep, id, header, headerLength, buffer, count, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_am_recv_data_nbx}. */
  public static long amRecvDataNbx(
      long worker, long descriptor, long buffer, long count, long param) {
    try {
      return (long) UCP_AM_RECV_DATA_NBX.invokeExact(worker, descriptor, buffer, count, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_am_recv_data_nbx}, a critical call. */
  public static long amRecvDataNbxCritical(
      long worker, long descriptor, long buffer, long count, long param) {
    try {
      return (long)
          UCP_AM_RECV_DATA_NBX_CRITICAL.invokeExact(worker, descriptor, buffer, count, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_am_data_release}. */
  public static void amDataRelease(long worker, long data) {
    try {
      UCP_AM_DATA_RELEASE.invokeExact(worker, data);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_am_data_release}, a critical call. */
  public static void amDataReleaseCritical(long worker, long data) {
    try {
      UCP_AM_DATA_RELEASE_CRITICAL.invokeExact(worker, data);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_put_nbx}. */
  public static long putNbx(
      long ep, long buffer, long count, long remoteAddress, long rkey, long param) {
    try {
      return (long) UCP_PUT_NBX.invokeExact(ep, buffer, count, remoteAddress, rkey, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_put_nbx}, a critical call. */
  public static long putNbxCritical(
      long ep, long buffer, long count, long remoteAddress, long rkey, long param) {
    try {
      return (long) UCP_PUT_NBX_CRITICAL.invokeExact(ep, buffer, count, remoteAddress, rkey, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_get_nbx}. */
  public static long getNbx(
      long ep, long buffer, long count, long remoteAddress, long rkey, long param) {
    try {
      return (long) UCP_GET_NBX.invokeExact(ep, buffer, count, remoteAddress, rkey, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_get_nbx}, a critical call. */
  public static long getNbxCritical(
      long ep, long buffer, long count, long remoteAddress, long rkey, long param) {
    try {
      return (long) UCP_GET_NBX_CRITICAL.invokeExact(ep, buffer, count, remoteAddress, rkey, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_atomic_op_nbx}. */
  public static long atomicOpNbx(
      long ep, int operation, long buffer, long count, long remoteAddress, long rkey, long param) {
    try {
      return (long)
          UCP_ATOMIC_OP_NBX.invokeExact(ep, operation, buffer, count, remoteAddress, rkey, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_atomic_op_nbx}, a critical call. */
  public static long atomicOpNbxCritical(
      long ep, int operation, long buffer, long count, long remoteAddress, long rkey, long param) {
    try {
      return (long)
          UCP_ATOMIC_OP_NBX_CRITICAL.invokeExact(
              ep, operation, buffer, count, remoteAddress, rkey, param);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_request_check_status}. */
  public static int requestCheckStatus(long request) {
    try {
      return (byte) UCP_REQUEST_CHECK_STATUS.invokeExact(request);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_request_check_status}, a critical call. */
  public static int requestCheckStatusCritical(long request) {
    try {
      return (byte) UCP_REQUEST_CHECK_STATUS_CRITICAL.invokeExact(request);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_request_query}. */
  public static int requestQuery(long request, long attr) {
    try {
      return (byte) UCP_REQUEST_QUERY.invokeExact(request, attr);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_request_cancel}. */
  public static void requestCancel(long worker, long request) {
    try {
      UCP_REQUEST_CANCEL.invokeExact(worker, request);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_request_free}. */
  public static void requestFree(long request) {
    try {
      UCP_REQUEST_FREE.invokeExact(request);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucp_request_free}, a critical call. */
  public static void requestFreeCritical(long request) {
    try {
      UCP_REQUEST_FREE_CRITICAL.invokeExact(request);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucs_status_string}. */
  public static long ucsStatusString(byte status) {
    try {
      return (long) UCS_STATUS_STRING.invokeExact(status);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** {@code ucs_debug_disable_signals}. */
  public static void ucsDebugDisableSignals() {
    try {
      UCS_DEBUG_DISABLE_SIGNALS.invokeExact();
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }
}
