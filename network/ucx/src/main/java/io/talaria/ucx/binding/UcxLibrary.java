// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.LibrarySpec;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.NativeLibrary;
import io.talaria.ffi.NumberLocale;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * The loaded UCX, made safe for a JVM: before it is loaded the environment is set so that it leaves
 * signals and standard output alone, and afterwards the one handler it installs all the same
 * (SIGHUP) is removed. Loaded once, on first use; immutable.
 *
 * <p>Which calls are critical: those that only post, look or release and whose length is small.
 * Progress is among them as long as no Java function is registered with the worker.
 */
public final class UcxLibrary {
  /** The property that may name the file of libucp. */
  public static final String PROPERTY = "talaria.ucx.library";

  private static final LibrarySpec SPEC =
      new LibrarySpec(
          "UCX",
          PROPERTY,
          List.of("libucp.so.0"),
          "Install the package libucx0 (Debian, Ubuntu) or ucx (Fedora, RHEL, Arch).");
  private static final String DISABLE_SIGNALS = "ucs_debug_disable_signals";
  private static final String GET_VERSION = "ucp_get_version";
  private static final int OLDEST_MINOR = 12;

  /** The last release whose {@code ucs_memtype_cache_lookup} is known to take these arguments. */
  private static final int LAST_PRIMED_MINOR = 19;

  /** More than a {@code ucs_memory_info_t}. */
  private static final long MEMORY_INFO_ROOM = 256;

  private final NativeLibrary library;
  private final int major;
  private final int minor;
  private final int release;

  private UcxLibrary(NativeLibrary library, int major, int minor, int release) {
    this.library = library;
    this.major = major;
    this.minor = minor;
    this.release = release;
  }

  /**
   * The library.
   *
   * @return UCX
   * @throws MissingLibraryException if there is none, or one too old
   */
  public static UcxLibrary required() {
    if (Holder.LIBRARY == null) {
      throw new MissingLibraryException(Holder.FAILURE.getMessage(), Holder.FAILURE);
    }
    return Holder.LIBRARY;
  }

  private static UcxLibrary load() {
    NativeLibrary.requireNativeAccess(UcxLibrary.class.getModule());
    setEnvironment();
    NativeLibrary library = NumberLocale.call(() -> NativeLibrary.open(SPEC));
    requireSymbols(library);
    try (Arena arena = Arena.ofConfined()) {
      // Takes the handler of UCX_DEBUG_SIGNO (SIGHUP) back, which the JVM uses for its own end.
      library.plain(DISABLE_SIGNALS, FunctionDescriptor.ofVoid()).invokeExact();
      MethodHandle getVersion =
          library.plain(GET_VERSION, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));
      MemorySegment version = arena.allocate(JAVA_INT, 3);
      long at = version.address();
      getVersion.invokeExact(at, at + 4, at + 8);
      int major = version.getAtIndex(JAVA_INT, 0);
      int minor = version.getAtIndex(JAVA_INT, 1);
      int release = version.getAtIndex(JAVA_INT, 2);
      if (major != 1 || minor < OLDEST_MINOR) {
        throw new MissingLibraryException(
            library
                + " is release "
                + major
                + "."
                + minor
                + "."
                + release
                + ", but 1.12 or a later 1.x is needed. Install one, or name it by the property "
                + PROPERTY
                + ".",
            null);
      }
      UcxLibrary loaded = new UcxLibrary(library, major, minor, release);
      loaded.primeMemoryTypes(arena);
      return loaded;
    } catch (Throwable t) {
      throw Libc.unchecked(t);
    }
  }

  /** The property is easily made to name another library, such as UCX's own libucs. */
  private static void requireSymbols(NativeLibrary library) {
    for (String symbol : List.of(DISABLE_SIGNALS, GET_VERSION)) {
      if (!library.has(symbol)) {
        throw new MissingLibraryException(
            library
                + " is not libucp: it has no "
                + symbol
                + ". Correct the property "
                + PROPERTY
                + " or remove it.",
            null);
      }
    }
  }

  /**
   * Makes UCX create its cache of memory types, which it does on the first look-up. Until it
   * exists, 1.13 takes the copying transport for the smallest stream sends and refuses those that
   * must complete at once.
   */
  private void primeMemoryTypes(Arena arena) throws Throwable {
    String lookup = "ucs_memtype_cache_lookup";
    if (minor <= LAST_PRIMED_MINOR && library.has(lookup)) {
      MemorySegment scratch = arena.allocate(MEMORY_INFO_ROOM, 8);
      byte ignored =
          (byte)
              library
                  .plain(lookup, FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG))
                  .invokeExact(scratch.address(), 1L, scratch.address());
    }
  }

  private static void setEnvironment() {
    // The JVM needs SIGSEGV and others for itself, so these two are not the user's to set.
    Libc.setenv("UCX_ERROR_SIGNALS", "", true);
    Libc.setenv("UCX_HANDLE_ERRORS", "none", true);
    Libc.setenv("UCX_LOG_FILE", "stderr", false);
    // UCX's VFS costs a thread and an inotify watch per process, for a file system that is never
    // mounted.
    Libc.setenv("UCX_VFS_ENABLE", "n", false);
  }

  /** The library, for linking. */
  NativeLibrary library() {
    return library;
  }

  /**
   * The first number of the release.
   *
   * @return a number
   */
  public int major() {
    return major;
  }

  /**
   * The second number of the release.
   *
   * @return a number
   */
  public int minor() {
    return minor;
  }

  /**
   * The third number of the release.
   *
   * @return a number
   */
  public int release() {
    return release;
  }

  /**
   * Whether the library is of a release or later.
   *
   * @param wanted the second number of the release
   * @return whether it is
   */
  public boolean atLeast(int wanted) {
    return minor >= wanted;
  }

  /**
   * Whether the library has a function.
   *
   * @param symbol its name in C
   * @return whether it is there
   */
  public boolean has(String symbol) {
    return library.has(symbol);
  }

  /**
   * Where the library was found.
   *
   * @return a path or a name
   */
  public String origin() {
    return library.origin();
  }

  /** Loads on first use, and remembers why it failed. */
  private static final class Holder {
    static final UcxLibrary LIBRARY;
    static final MissingLibraryException FAILURE;

    static {
      UcxLibrary library = null;
      MissingLibraryException failure = null;
      try {
        library = load();
      } catch (MissingLibraryException e) {
        failure = e;
      }
      LIBRARY = library;
      FAILURE = failure;
    }
  }
}
