// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Function pointers into Java that let no exception out, which would end the JVM. */
public final class Upcall {
  private static final System.Logger LOG = System.getLogger(Upcall.class.getName());
  private static final MethodHandle LOGGED = logged();

  private Upcall() {}

  /**
   * Makes a function pointer. Whatever the target throws is logged, and C gets the value given.
   *
   * @param target what to call, of the descriptor's type
   * @param descriptor the type in C
   * @param onThrow what to return to C after an exception; ignored if C expects nothing
   * @param arena how long the pointer lives
   * @return the function pointer
   */
  @SuppressWarnings("restricted")
  public static MemorySegment guarded(
      MethodHandle target, FunctionDescriptor descriptor, Object onThrow, Arena arena) {
    MethodType type = target.type();
    MethodHandle handler =
        type.returnType() == void.class
            ? LOGGED
            : MethodHandles.filterReturnValue(
                LOGGED, MethodHandles.constant(type.returnType(), onThrow));
    return Linker.nativeLinker()
        .upcallStub(
            MethodHandles.catchException(target, Throwable.class, handler), descriptor, arena);
  }

  @SuppressWarnings("unused") // by a handle
  private static void log(Throwable thrown) {
    try {
      LOG.log(Level.ERROR, "An exception in a function that native code called is dropped", thrown);
    } catch (Throwable alsoFailed) {
      // Logging is all that could be done; what must not happen is that this leaves into C.
    }
  }

  private static MethodHandle logged() {
    try {
      return MethodHandles.lookup()
          .findStatic(Upcall.class, "log", MethodType.methodType(void.class, Throwable.class));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }
}
