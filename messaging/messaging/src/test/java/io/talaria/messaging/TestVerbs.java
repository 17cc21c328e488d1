// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.testsupport.VerbsInMemory;
import io.talaria.verbs.Verbs;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/**
 * Where verbs come from in tests: from a provider in memory, which reaches no other process, or,
 * with {@code -Dtalaria.verbs.variant=device}, from a device of this host.
 */
public final class TestVerbs {
  private static final boolean DEVICE =
      "device".equals(System.getProperty("talaria.verbs.variant"));

  /** What the provider in memory is asked for. */
  private static final class Provider {
    static final MethodHandle PORT = function("loop_port");
    static final MethodHandle HOLD = function("loop_hold");
    static final MethodHandle RELEASE = function("loop_release");

    private Provider() {}

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name) {
      return Linker.nativeLinker()
          .downcallHandle(
              SymbolLookup.libraryLookup(VerbsInMemory.library(), Arena.global()).findOrThrow(name),
              FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
    }

    static void call(MethodHandle function, boolean argument) {
      try {
        function.invokeExact(argument ? 1 : 0);
      } catch (Throwable t) {
        throw new AssertionError(t);
      }
    }
  }

  private TestVerbs() {}

  /** Whether a device is used, which may be one of an emulated machine. */
  public static boolean isDevice() {
    return DEVICE;
  }

  /** How long what must happen may take: where a machine is emulated, everything takes long. */
  public static Duration limit() {
    return Duration.ofSeconds(DEVICE ? 600 : 60);
  }

  /** How long what fails may take before it does so: on a device, what succeeds takes long, too. */
  public static Duration shortLimit() {
    return Duration.ofMillis(DEVICE ? 10_000 : 500);
  }

  /**
   * Asks the provider in memory for a fault.
   *
   * @param function one of its functions {@code loop_*}
   * @param arguments for it
   * @return what it has returned, if it returns an {@code int}
   */
  @SuppressWarnings("restricted")
  public static int ask(String function, Integer... arguments) {
    MemoryLayout[] types = new MemoryLayout[arguments.length];
    Arrays.fill(types, ValueLayout.JAVA_INT);
    SymbolLookup symbols = SymbolLookup.libraryLookup(VerbsInMemory.library(), Arena.global());
    MethodHandle handle =
        Linker.nativeLinker()
            .downcallHandle(
                symbols.find(function).orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, types));
    try {
      return (int) handle.invokeWithArguments((Object[]) arguments);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /** Makes verbs available to this JVM; gives why that is not possible. */
  public static Optional<String> prepare() {
    return DEVICE ? Verbs.unavailableReason() : VerbsInMemory.prepare();
  }

  /** Takes the port of the provider in memory down, or up again; all nodes are told. */
  public static void port(boolean up) {
    Provider.call(Provider.PORT, up);
  }

  /** Lets the provider in memory keep completions back. */
  public static void hold() {
    Provider.call(Provider.HOLD, true);
  }

  /**
   * Gives out what was kept back.
   *
   * @param reverse those of the queue pair that was opened last first; those of one stay in order
   */
  public static void release(boolean reverse) {
    Provider.call(Provider.RELEASE, reverse);
  }
}
