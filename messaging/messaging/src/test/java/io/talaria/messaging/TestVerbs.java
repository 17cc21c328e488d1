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
}
