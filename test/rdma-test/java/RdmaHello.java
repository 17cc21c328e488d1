// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The smallest Java check of the guest: Java sees the software NIC in sysfs and through libibverbs,
 * and calls into libucp. Ends with 1 and a sentence if not.
 */
final class RdmaHello {
  private static final Linker LINKER = Linker.nativeLinker();

  private RdmaHello() {}

  public static void main(String[] arguments) throws Throwable {
    String device = arguments[0];
    Path port = Path.of("/sys/class/infiniband", device, "ports", "1");
    expect("state of " + port, Files.readString(port.resolve("state")).strip(), "4: ACTIVE");
    try (Arena arena = Arena.ofConfined()) {
      System.out.println("libucp " + ucpVersion(arena));
      List<String> devices = verbsDevices(arena);
      System.out.println("libibverbs devices " + devices);
      expect("device " + device + " among the verbs devices", devices.contains(device), true);
    }
    System.out.println("Java " + Runtime.version() + " on " + System.getProperty("os.version"));
  }

  private static void expect(String what, Object actual, Object expected) {
    if (!actual.equals(expected)) {
      System.out.println(what + ": " + actual + " instead of " + expected);
      System.exit(1);
    }
  }

  /** {@code const char *ucp_get_version_string(void)}. */
  private static String ucpVersion(Arena arena) throws Throwable {
    MemorySegment version =
        (MemorySegment)
            LINKER
                .downcallHandle(
                    SymbolLookup.libraryLookup("libucp.so.0", arena)
                        .findOrThrow("ucp_get_version_string"),
                    FunctionDescriptor.of(ADDRESS))
                .invokeExact();
    return string(version);
  }

  /** {@code ibv_get_device_list(int *)}, {@code ibv_get_device_name(device)}. */
  private static List<String> verbsDevices(Arena arena) throws Throwable {
    SymbolLookup verbs = SymbolLookup.libraryLookup("libibverbs.so.1", arena);
    var getList =
        LINKER.downcallHandle(
            verbs.findOrThrow("ibv_get_device_list"), FunctionDescriptor.of(ADDRESS, ADDRESS));
    var getName =
        LINKER.downcallHandle(
            verbs.findOrThrow("ibv_get_device_name"), FunctionDescriptor.of(ADDRESS, ADDRESS));
    MemorySegment count = arena.allocate(JAVA_INT);
    MemorySegment list = (MemorySegment) getList.invokeExact(count);
    int length = count.get(JAVA_INT, 0);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      MemorySegment device = list.reinterpret(length * ADDRESS.byteSize()).getAtIndex(ADDRESS, i);
      names.add(string((MemorySegment) getName.invokeExact(device)));
    }
    return names;
  }

  private static String string(MemorySegment pointer) {
    return pointer.reinterpret(256).getString(0);
  }
}
