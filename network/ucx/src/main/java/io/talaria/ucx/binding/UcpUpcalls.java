// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.NativeLibrary;
import io.talaria.ffi.Upcall;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Function pointers that UCX is given. Java targets are called inside {@code ucp_worker_progress}
 * and, for active messages to oneself, inside a send: as long as one is set on a worker, no call on
 * that worker may be critical.
 *
 * <p>An endpoint's error handler is not Java: it is the C library's {@code sem_post}, whose one
 * argument is the handler's argument, so that a failure raises a semaphore of ours by one and
 * progress may stay critical. {@code sem_post} ignores the further arguments by every 64-bit
 * calling convention.
 */
public final class UcpUpcalls {
  /** Room for a {@code sem_t}; zeros are a semaphore of value 0. */
  public static final long SEMAPHORE_BYTES = 32;

  private static final FunctionDescriptor CONNECTION =
      FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG);
  private static final FunctionDescriptor ACTIVE_MESSAGE =
      FunctionDescriptor.of(
          JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  private UcpUpcalls() {}

  /** {@code ucp_listener_conn_callback_t}. */
  @FunctionalInterface
  public interface Connection {
    /** A client asks; the request is to be accepted or rejected. */
    void requested(long connRequest, long argument);
  }

  /** {@code ucp_am_recv_callback_t}. */
  @FunctionalInterface
  public interface ActiveMessage {
    /** A message is here; answers a status. */
    byte received(
        long argument, long header, long headerLength, long data, long length, long param);
  }

  /** The address of {@code sem_post}. */
  public static long raiseSemaphore() {
    return NativeLibrary.libc().find("sem_post").orElseThrow().address();
  }

  /** Makes a function pointer for a listener. */
  public static long connection(Connection target, Arena arena) {
    MethodHandle handle =
        bind(
            Connection.class,
            "requested",
            MethodType.methodType(void.class, long.class, long.class),
            target);
    return Upcall.guarded(handle, CONNECTION, null, arena).address();
  }

  /**
   * Makes a function pointer for active messages. After an exception UCX is told that the message
   * is done.
   */
  public static long activeMessage(ActiveMessage target, Arena arena) {
    MethodHandle handle =
        bind(
            ActiveMessage.class,
            "received",
            MethodType.methodType(
                byte.class, long.class, long.class, long.class, long.class, long.class, long.class),
            target);
    return Upcall.guarded(handle, ACTIVE_MESSAGE, (byte) UcsConstants.UCS_OK, arena).address();
  }

  private static MethodHandle bind(
      Class<?> type, String method, MethodType signature, Object target) {
    try {
      return MethodHandles.lookup().findVirtual(type, method, signature).bindTo(target);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }
}
