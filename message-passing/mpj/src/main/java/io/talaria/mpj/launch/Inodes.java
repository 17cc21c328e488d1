// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * How many files a file system has room for, which Java's {@code FileStore} does not tell:
 * statvfs(3) of 64-bit Linux.
 */
final class Inodes {
  /** Where there is no limit, or none that is known. */
  static final long UNLIMITED = Long.MAX_VALUE;

  /** More than any C library's {@code struct statvfs}. */
  private static final long STRUCT_BYTES = 256;

  private static final long FILES = 40;
  private static final long FREE_FOR_USERS = 56;

  /** Null where native functions are not for this program: then nothing is known. */
  private static final MethodHandle STATVFS =
      NativeLibrary.class.getModule().isNativeAccessEnabled()
          ? NativeLibrary.libc()
              .plain("statvfs", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG))
          : null;

  private Inodes() {}

  /**
   * Files that can still be made.
   *
   * @param directory in the file system
   * @return their number, or {@link #UNLIMITED}
   */
  static long free(Path directory) {
    if (STATVFS == null) {
      return UNLIMITED;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(directory.toString());
      MemorySegment found = arena.allocate(STRUCT_BYTES, 8);
      int status = (int) STATVFS.invokeExact(path.address(), found.address());
      boolean limited = status == 0 && found.get(JAVA_LONG, FILES) > 0;
      return limited ? found.get(JAVA_LONG, FREE_FOR_USERS) : UNLIMITED;
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }
}
