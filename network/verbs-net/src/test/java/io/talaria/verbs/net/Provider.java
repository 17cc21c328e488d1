// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.VerbsInMemory;
import io.talaria.verbs.Context;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.GidEntry;
import io.talaria.verbs.Verbs;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Where the tests run: on the provider in memory that the tests of verbs have, or, with {@code
 * -Dtalaria.verbs.variant=device}, on the first device of this host.
 */
final class Provider implements BeforeAllCallback {
  private static final boolean DEVICE =
      "device".equals(System.getProperty("talaria.verbs.variant"));
  private static String unavailableReason;
  private static SymbolLookup symbols;

  static boolean isDevice() {
    return DEVICE;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    prepare();
    assumeTrue(unavailableReason.isEmpty(), unavailableReason);
  }

  static synchronized void prepare() {
    if (unavailableReason == null) {
      unavailableReason = DEVICE ? Verbs.unavailableReason().orElse("") : build();
    }
  }

  @SuppressWarnings("restricted")
  private static String build() {
    String reason = VerbsInMemory.prepare().orElse("");
    if (reason.isEmpty()) {
      symbols = SymbolLookup.libraryLookup(VerbsInMemory.library(), Arena.global());
    }
    return reason;
  }

  @SuppressWarnings("restricted")
  private static Object call(String name, MemoryLayout result, Object... arguments) {
    MemoryLayout[] types = new MemoryLayout[arguments.length];
    for (int i = 0; i < types.length; i++) {
      types[i] = arguments[i] instanceof Integer ? JAVA_INT : JAVA_LONG;
    }
    FunctionDescriptor type =
        result == null ? FunctionDescriptor.ofVoid(types) : FunctionDescriptor.of(result, types);
    try {
      return Linker.nativeLinker()
          .downcallHandle(symbols.find(name).orElseThrow(), type)
          .invokeWithArguments(arguments);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  /** The IPv4 address of the first device's first port, by which RDMA CM finds it. */
  static InetAddress address() {
    try (DeviceList devices = DeviceList.open();
        Context context = devices.first().open()) {
      for (GidEntry entry : context.gids(1)) {
        if (entry.gid().isIpv4()) {
          byte[] bytes = entry.gid().toBytes();
          return InetAddress.getByAddress(Arrays.copyOfRange(bytes, 12, 16));
        }
      }
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
    throw new AssertionError("the port has no IPv4 address");
  }

  /** How often a message found no receive request at its peer; a device is not asked. */
  static long notReady() {
    return DEVICE ? 0 : (long) call("loop_not_ready", JAVA_LONG);
  }

  /** Lets a function fail so often. */
  static void fail(String function, int errno, int times) {
    try (Arena arena = Arena.ofConfined()) {
      Object ignored =
          call("loop_fail", null, arena.allocateFrom(function).address(), errno, times);
    }
  }

  /** Lets the next call of a function take so long. */
  static void slow(String function, int ms) {
    try (Arena arena = Arena.ofConfined()) {
      Object ignored = call("loop_slow", null, arena.allocateFrom(function).address(), ms);
    }
  }

  /** Whether that call has begun. */
  static boolean slowHasBegun() {
    return (int) call("loop_slow_began", JAVA_INT) == 1;
  }

  /** How many reads a queue pair has under way at most. */
  static void maxReadsOut(int count) {
    Object ignored = call("loop_max_reads_out", null, count);
  }

  /** Keeps completions back. */
  static void hold() {
    Object ignored = call("loop_hold", JAVA_INT, 1);
  }

  /** Gives them out. */
  static void release() {
    Object ignored = call("loop_release", null, 0);
  }
}
