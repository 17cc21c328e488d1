// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric.binding;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Errno;
import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The functions. libibmad keeps global state and may block: one caller at a time, all calls plain.
 * Pointers are longs; a failure is a negated error number, for which 5 (EIO), of a query 110
 * (ETIMEDOUT), stands in where C says none.
 */
public final class Mad {
  private static final int EIO = 5;
  private static final int ETIMEDOUT = 110;
  private static final int CA_NAME_BYTES = 20; // UMAD_CA_NAME_LEN
  private static final int MAX_CAS = 32;

  private final MethodHandle umadInit;
  private final MethodHandle umadGetCasNames;
  private final MethodHandle openPort;
  private final MethodHandle closePort;
  private final MethodHandle setTimeout;
  private final MethodHandle setRetries;
  private final MethodHandle showErrors;
  private final MethodHandle pmaQuery;
  private final MethodHandle performanceReset;
  private final MethodHandle getField;
  private final MethodHandle getField64;
  private final MethodHandle discover;
  private final MethodHandle destroy;

  /**
   * Loads the libraries and links the functions.
   *
   * @throws MissingLibraryException if one of the three is not there
   */
  public Mad() {
    NativeLibrary umad = FabricLibraries.umad();
    NativeLibrary mad = FabricLibraries.mad();
    NativeLibrary netdisc = FabricLibraries.netdisc();
    umadInit = umad.plain("umad_init", FunctionDescriptor.of(JAVA_INT));
    umadGetCasNames =
        umad.capturingErrno(
            "umad_get_cas_names", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    openPort =
        mad.capturingErrno(
            "mad_rpc_open_port",
            FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT));
    closePort = mad.plain("mad_rpc_close_port", FunctionDescriptor.ofVoid(JAVA_LONG));
    setTimeout = mad.plain("mad_rpc_set_timeout", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    setRetries = mad.plain("mad_rpc_set_retries", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    showErrors = mad.plain("madrpc_show_errors", FunctionDescriptor.ofVoid(JAVA_INT));
    pmaQuery =
        mad.capturingErrno(
            "pma_query_via",
            FunctionDescriptor.of(
                JAVA_LONG, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    performanceReset =
        mad.capturingErrno(
            "performance_reset_via",
            FunctionDescriptor.of(
                JAVA_LONG, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    getField =
        mad.plain("mad_get_field", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
    getField64 =
        mad.plain(
            "mad_get_field64", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
    discover =
        netdisc.capturingErrno(
            "ibnd_discover_fabric",
            FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_INT, ADDRESS, ADDRESS));
    destroy = netdisc.plain("ibnd_destroy_fabric", FunctionDescriptor.ofVoid(JAVA_LONG));
  }

  private static long failed(MemorySegment errno) {
    int number = Errno.of(errno);
    return number == 0 ? -EIO : -number;
  }

  private static int noResponse(MemorySegment errno) {
    int number = Errno.of(errno);
    return number == 0 ? -ETIMEDOUT : -number;
  }

  private static MemorySegment name(Arena arena, String device) {
    return device.isEmpty()
        ? MemorySegment.NULL
        : arena.allocateFrom(device, StandardCharsets.UTF_8);
  }

  /**
   * The names of the channel adapters that libibumad finds.
   *
   * @return their names; none if there are none, or the kernel has no InfiniBand
   */
  public List<String> adapters() {
    try (Arena arena = Arena.ofConfined()) {
      int ignored = (int) umadInit.invokeExact();
      MemorySegment names = arena.allocate((long) MAX_CAS * CA_NAME_BYTES);
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      int count = (int) umadGetCasNames.invokeExact(errno, names, MAX_CAS);
      List<String> found = new ArrayList<>();
      for (int i = 0; i < Math.min(count, MAX_CAS); i++) {
        found.add(names.getString((long) i * CA_NAME_BYTES, StandardCharsets.UTF_8));
      }
      return found;
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * Opens a port to send from.
   *
   * @param device the adapter, or empty for the first with an active port
   * @param port its port, or 0
   * @return a handle, or a negated error number
   */
  public long openPort(String device, int port) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment classes =
          arena.allocateFrom(
              JAVA_INT,
              FabricConstants.IB_SMI_CLASS,
              FabricConstants.IB_SMI_DIRECT_CLASS,
              FabricConstants.IB_PERFORMANCE_CLASS);
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      long handle = (long) openPort.invokeExact(errno, name(arena, device), port, classes, 3);
      return handle == 0 ? failed(errno) : handle;
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * Closes a port.
   *
   * @param handle what {@link #openPort} gave, once
   */
  public void closePort(long handle) {
    try {
      closePort.invokeExact(handle);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * Sets how long a response is waited for, and how often a query is sent.
   *
   * @param handle an open port
   * @param timeoutMs milliseconds
   * @param tries how often, from 1
   */
  public void patience(long handle, int timeoutMs, int tries) {
    try {
      setTimeout.invokeExact(handle, timeoutMs);
      setRetries.invokeExact(handle, tries);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** Has libibmad print nothing about queries that fail. */
  public void silence() {
    try {
      showErrors.invokeExact(0);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * Queries an attribute of the performance class.
   *
   * @param handle an open port
   * @param response at least {@link FabricStructs#MAD_BYTES}
   * @param lid the LID that the request is sent to
   * @param port about which of its ports
   * @param attribute which
   * @param timeoutMs milliseconds
   * @return 0, or a negated error number
   */
  public int query(
      long handle, MemorySegment response, int lid, int port, int attribute, int timeoutMs) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      long got =
          (long)
              pmaQuery.invokeExact(
                  errno, response, portId(arena, lid), port, timeoutMs, attribute, handle);
      return got == 0 ? noResponse(errno) : 0;
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * Resets counters of a port.
   *
   * @param handle an open port
   * @param lid the LID that the request is sent to
   * @param port which of its ports
   * @param mask which counters
   * @param attribute of which attribute
   * @param timeoutMs milliseconds
   * @return 0, or a negated error number
   */
  public int reset(long handle, int lid, int port, int mask, int attribute, int timeoutMs) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      MemorySegment response = arena.allocate(FabricStructs.MAD_BYTES, Long.BYTES);
      long got =
          (long)
              performanceReset.invokeExact(
                  errno, response, portId(arena, lid), port, mask, timeoutMs, attribute, handle);
      return got == 0 ? noResponse(errno) : 0;
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  private static MemorySegment portId(Arena arena, int lid) {
    // Queue pair and key are 0: libibmad puts those of the general services there.
    MemorySegment id = arena.allocate(FabricStructs.PORT_ID.layout());
    id.set(JAVA_INT, FabricStructs.PORT_ID.offset("lid"), lid);
    return id;
  }

  /**
   * A field of a message.
   *
   * @param message the address of the attribute
   * @param field which, of {@link FabricConstants}
   * @return its value, up to 32 bits
   */
  public int field(long message, int field) {
    try {
      return (int) getField.invokeExact(message, 0, field);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * A field of 64 bits of a message.
   *
   * @param message the address of the attribute
   * @param field which, of {@link FabricConstants}
   * @return its value
   */
  public long field64(long message, int field) {
    try {
      return (long) getField64.invokeExact(message, 0, field);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * Discovers the fabric, which blocks.
   *
   * @param device the adapter to begin at, or empty
   * @param port its port, or 0
   * @param maxHops how far to go; 0 for all of it
   * @param timeoutMs how long a response is waited for
   * @param tries how often each query is sent
   * @return a handle, or a negated error number
   */
  public long discover(String device, int port, int maxHops, int timeoutMs, int tries) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment config = arena.allocate(FabricStructs.CONFIG.layout());
      config.set(JAVA_INT, FabricStructs.CONFIG.offset("max_hops"), maxHops);
      config.set(JAVA_INT, FabricStructs.CONFIG.offset("timeout_ms"), timeoutMs);
      config.set(JAVA_INT, FabricStructs.CONFIG.offset("retries"), tries);
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      long fabric =
          (long) discover.invokeExact(errno, name(arena, device), port, MemorySegment.NULL, config);
      return fabric == 0 ? failed(errno) : fabric;
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /**
   * Frees what a discovery gave.
   *
   * @param fabric its handle, once
   */
  public void destroy(long fabric) {
    try {
      destroy.invokeExact(fabric);
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }
}
