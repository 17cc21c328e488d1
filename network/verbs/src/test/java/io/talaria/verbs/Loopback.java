// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.VerbsInMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** What tests ask of {@link VerbsInMemory}, which stands for libibverbs and librdmacm. */
public final class Loopback {
  private static SymbolLookup symbols;

  private Loopback() {}

  /** Builds and names it; gives why that is not possible. */
  @SuppressWarnings("restricted")
  public static synchronized Optional<String> prepare() {
    Optional<String> unavailableReason = VerbsInMemory.prepare();
    if (symbols == null && unavailableReason.isEmpty()) {
      symbols = SymbolLookup.libraryLookup(VerbsInMemory.library(), Arena.global());
    }
    return unavailableReason;
  }

  @SuppressWarnings("restricted")
  private static MethodHandle link(String name, FunctionDescriptor type) {
    return Linker.nativeLinker().downcallHandle(symbols.find(name).orElseThrow(), type);
  }

  private static Object call(String name, MemoryLayout result, Object... arguments) {
    MemoryLayout[] types = new MemoryLayout[arguments.length];
    for (int i = 0; i < types.length; i++) {
      types[i] = arguments[i] instanceof Integer ? JAVA_INT : JAVA_LONG;
    }
    FunctionDescriptor type =
        result == null ? FunctionDescriptor.ofVoid(types) : FunctionDescriptor.of(result, types);
    try {
      return link(name, type).invokeWithArguments(arguments);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  /** Lets a function fail so often. */
  static void fail(String function, int errno, int times) {
    try (Arena arena = Arena.ofConfined()) {
      Object ignored =
          call("loop_fail", null, arena.allocateFrom(function).address(), errno, times);
    }
  }

  /** Keeps completions back. */
  static void hold() {
    Object ignored = call("loop_hold", JAVA_INT, 1);
  }

  /** Gives them out. */
  static void release(boolean reverse) {
    Object ignored = call("loop_release", null, reverse ? 1 : 0);
  }

  /** Raises an asynchronous event of an object, or of a port. */
  @SuppressWarnings("EnumOrdinal") // in the order of the constants of C
  static void raise(Context context, AsyncEvent.Type type, NativeObject element, int port) {
    Object ignored =
        call(
            "loop_raise",
            null,
            context.pointer(),
            type.ordinal(),
            element == null ? 0L : element.pointer(),
            port);
  }

  /** Takes the port down, or up again; all contexts are told. */
  static void port(boolean up) {
    Object ignored = call("loop_port", null, up ? 1 : 0);
  }

  /**
   * Stops a message in its middle: what it has taken of the shared queue comes back by an error.
   */
  static void tear(QueuePair queuePair) {
    assertThat((int) call("loop_tear", JAVA_INT, queuePair.number())).isEqualTo(1);
  }

  /** Adds completions that nobody has asked for. */
  static void stuff(CompletionQueue queue, int count) {
    Object ignored = call("loop_stuff", null, queue.pointer(), count);
  }

  /** How many events are taken and not acknowledged. */
  static long unacknowledged() {
    return (long) call("loop_unacknowledged", JAVA_LONG);
  }

  /** How many identifiers of RDMA CM are not destroyed. */
  static long identifiers() {
    return (long) call("loop_identifiers", JAVA_LONG);
  }

  /** What is missing: verbs in the kernel, devices, or the right to open one. */
  static void missing(boolean kernel, boolean devices, int openErrno) {
    Object ignored = call("loop_missing", null, kernel ? 1 : 0, devices ? 1 : 0, openErrno);
  }

  /** Lets posting and polling of a context do nothing; before its queues are opened. */
  static void noop(Context context) {
    Object ignored = call("loop_noop", null, context.pointer());
  }

  static void noop(QueuePair queuePair) {
    Object ignored = call("loop_noop_qp", null, queuePair.number());
  }

  /** Nanoseconds of so many posts and polls in C. */
  static long bench(QueuePair queuePair, long count) {
    return (long) call("loop_bench", JAVA_LONG, queuePair.number(), count);
  }
}
