// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The library that stands for libibverbs and librdmacm in tests: built once for a JVM by gcc,
 * against the real headers, and named by the properties before anything is loaded.
 */
public final class Loopback {
  private static final String SOURCE = "src/test/c/loopback.c";
  private static Optional<String> unavailableReason;
  private static SymbolLookup symbols;

  private Loopback() {}

  /** Builds and names it; gives why that is not possible. */
  public static synchronized Optional<String> prepare() {
    if (unavailableReason == null) {
      try {
        build();
        unavailableReason = Optional.empty();
      } catch (IOException e) {
        unavailableReason = Optional.of(e.getMessage());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        unavailableReason = Optional.of("interrupted");
      }
    }
    return unavailableReason;
  }

  @SuppressWarnings("restricted")
  private static void build() throws IOException, InterruptedException {
    Path source = Path.of(SOURCE);
    if (!Files.exists(source)) {
      source = Path.of("network", "verbs").resolve(SOURCE);
    }
    Path directory = Files.createTempDirectory("talaria-verbs");
    Path library = directory.resolve("libloopback.so");
    Process gcc =
        new ProcessBuilder(
                "gcc", "-shared", "-fPIC", "-O2", "-o", library.toString(), source.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!gcc.waitFor(120, TimeUnit.SECONDS) || gcc.exitValue() != 0) {
      throw new IOException(
          "gcc or the headers (libibverbs-dev, librdmacm-dev) are missing: " + said.strip());
    }
    System.setProperty(Verbs.LIBRARY_PROPERTY, library.toString());
    System.setProperty(Verbs.CM_LIBRARY_PROPERTY, library.toString());
    symbols = SymbolLookup.libraryLookup(library, Arena.global());
    library.toFile().deleteOnExit();
    directory.toFile().deleteOnExit();
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

  /** Adds completions that nobody has asked for. */
  static void stuff(CompletionQueue queue, int count) {
    Object ignored = call("loop_stuff", null, queue.pointer(), count);
  }

  /** How many events are taken and not acknowledged. */
  static long unacknowledged() {
    return (long) call("loop_unacknowledged", JAVA_LONG);
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
