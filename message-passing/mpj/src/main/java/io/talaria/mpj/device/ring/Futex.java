// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Sleeping on a word of shared memory, by Linux's futex(2). Where its number is not known, a waiter
 * looks every 50 microseconds.
 */
final class Futex {
  private static final long WAIT = 0;
  private static final long WAKE = 1;

  private static final long NUMBER =
      switch (System.getProperty("os.arch")) {
        case "amd64", "x86_64" -> 202;
        case "aarch64", "riscv64" -> 98;
        default -> -1;
      };

  private static final MethodHandle SYSCALL =
      NativeLibrary.libc()
          .plain(
              "syscall",
              FunctionDescriptor.of(
                  JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                  JAVA_LONG));

  private Futex() {}

  /**
   * Sleeps while the word has the value, at most so long; may return early.
   *
   * @param timeout 16 bytes that no other thread uses during the call
   */
  static void await(long address, int value, long limitNs, MemorySegment timeout) {
    if (NUMBER < 0) {
      LockSupport.parkNanos(Math.min(limitNs, 50_000));
      return;
    }
    timeout.set(JAVA_LONG, 0, limitNs / 1_000_000_000);
    timeout.set(JAVA_LONG, 8, limitNs % 1_000_000_000);
    call(address, WAIT, value, timeout.address());
  }

  /** Wakes one sleeper. */
  static void wake(long address) {
    if (NUMBER >= 0) {
      call(address, WAKE, 1, 0);
    }
  }

  private static void call(long address, long operation, long value, long timeout) {
    try {
      long ignored = (long) SYSCALL.invokeExact(NUMBER, address, operation, value, timeout, 0L, 0L);
      assert ignored >= -1;
    } catch (Throwable t) {
      throw new IllegalStateException("futex", t);
    }
  }
}
