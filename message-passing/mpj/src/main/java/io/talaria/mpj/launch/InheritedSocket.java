// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A socket that this process was started with, by its number, of which Java knows nothing. */
final class InheritedSocket {
  private static final FunctionDescriptor TYPE =
      FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle READ = NativeLibrary.libc().plain("read", TYPE);
  private static final MethodHandle WRITE = NativeLibrary.libc().plain("write", TYPE);

  private final int descriptor;

  InheritedSocket(int descriptor) {
    this.descriptor = descriptor;
  }

  private long call(MethodHandle function, MemorySegment memory) throws IOException {
    long done;
    try {
      done = (long) function.invokeExact(descriptor, memory, memory.byteSize());
    } catch (Throwable t) {
      throw new IllegalStateException(t);
    }
    if (done < 0) {
      throw new IOException("descriptor " + descriptor + " cannot be used");
    }
    return done;
  }

  InputStream input() {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
          return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
          MemorySegment memory = arena.allocate(length);
          int count = (int) call(READ, memory);
          MemorySegment.copy(memory, JAVA_BYTE, 0, into, offset, count);
          return count == 0 ? -1 : count;
        }
      }
    };
  }

  OutputStream output() {
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
      }

      @Override
      public void write(byte[] from, int offset, int length) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
          MemorySegment memory = arena.allocate(Math.max(1, length));
          MemorySegment.copy(from, offset, memory, JAVA_BYTE, 0, length);
          for (long at = 0; at < length; ) {
            at += call(WRITE, memory.asSlice(at, length - at));
          }
        }
      }
    };
  }
}
