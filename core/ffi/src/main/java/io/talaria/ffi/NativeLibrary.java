// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A loaded native library, and the linking of its functions.
 *
 * <p>Immutable and usable by any thread. A library stays loaded until the process ends. Symbols are
 * looked up in the library and in those it depends on.
 */
public final class NativeLibrary {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option CRITICAL = Linker.Option.critical(false);
  private static final Linker.Option CRITICAL_WITH_HEAP = Linker.Option.critical(true);
  private static final MethodHandle MISSING = missing();

  private final String name;
  private final String origin;
  private final SymbolLookup symbols;

  private NativeLibrary(String name, String origin, SymbolLookup symbols) {
    this.name = name;
    this.origin = origin;
    this.symbols = symbols;
  }

  /**
   * Loads a library: from the file that the property names, or else by the first of the names that
   * the system's loader knows.
   *
   * @param spec what to load
   * @return the library
   * @throws MissingLibraryException if there is none, or the file named cannot be loaded
   */
  public static NativeLibrary open(LibrarySpec spec) {
    String file = System.getProperty(spec.property());
    return file == null || file.isBlank() ? byName(spec) : byFile(spec, Path.of(file));
  }

  /**
   * Checks that this module may use native code. To be called before anything else here: a class
   * that fails to initialize for want of it does not say why when it is used again.
   *
   * @param user the module that binds a library, whose name the hint has, too
   * @throws MissingLibraryException if the JVM was told to deny it
   */
  @SuppressWarnings("restricted")
  public static void requireNativeAccess(Module user) {
    try {
      MemorySegment ignored = MemorySegment.NULL.reinterpret(0);
    } catch (IllegalCallerException e) {
      Module own = NativeLibrary.class.getModule();
      String names = own.isNamed() ? own.getName() : "ALL-UNNAMED";
      throw new MissingLibraryException(
          "This JVM denies native access. Start it with --enable-native-access="
              + (user.isNamed() && user != own ? user.getName() + "," + names : names)
              + ".",
          e);
    }
  }

  /**
   * The C library, and whatever else the JVM itself is linked with.
   *
   * @return a library that is always there
   */
  public static NativeLibrary libc() {
    return new NativeLibrary("the C library", "the process", LINKER.defaultLookup());
  }

  @SuppressWarnings("restricted")
  private static NativeLibrary byFile(LibrarySpec spec, Path file) {
    String named = spec.name() + " (" + file + ", from the property " + spec.property() + ")";
    if (!Files.isRegularFile(file)) {
      throw new MissingLibraryException(
          named + " is not a file. Correct the property or remove it.", null);
    }
    try {
      return new NativeLibrary(
          spec.name(), file.toString(), SymbolLookup.libraryLookup(file, Arena.global()));
    } catch (IllegalArgumentException e) {
      throw new MissingLibraryException(
          named + " cannot be loaded: " + e.getMessage() + ". Correct the property or remove it.",
          e);
    }
  }

  @SuppressWarnings("restricted")
  private static NativeLibrary byName(LibrarySpec spec) {
    IllegalArgumentException last = null;
    for (String fileName : spec.fileNames()) {
      try {
        return new NativeLibrary(
            spec.name(), fileName, SymbolLookup.libraryLookup(fileName, Arena.global()));
      } catch (IllegalArgumentException e) {
        last = e;
      }
    }
    throw new MissingLibraryException(
        spec.name()
            + " is not installed: the loader finds no "
            + String.join(" or ", spec.fileNames())
            + ". "
            + spec.hint()
            + " Or name the file by the property "
            + spec.property()
            + ".",
        last);
  }

  /**
   * What was loaded: the file that the property named, or the name the loader knew.
   *
   * @return a path or a name
   */
  public String origin() {
    return origin;
  }

  /**
   * Whether the library has a symbol; what a capability is made of.
   *
   * @param symbol a name in C
   * @return whether it is there
   */
  public boolean has(String symbol) {
    return find(symbol).isPresent();
  }

  /**
   * Finds the address of a symbol.
   *
   * @param symbol a name in C
   * @return its address, or nothing
   */
  public Optional<MemorySegment> find(String symbol) {
    return symbols.find(symbol);
  }

  /**
   * Links a function that may block or call back.
   *
   * @param symbol its name in C
   * @param descriptor its type
   * @return a handle; if the library lacks the symbol, one that throws {@link
   *     MissingSymbolException}
   */
  public MethodHandle plain(String symbol, FunctionDescriptor descriptor) {
    return link(symbol, descriptor);
  }

  /**
   * Links a function that never blocks nor calls back into Java.
   *
   * @param symbol its name in C
   * @param descriptor its type
   * @return a handle; if the library lacks the symbol, one that throws {@link
   *     MissingSymbolException}
   */
  public MethodHandle critical(String symbol, FunctionDescriptor descriptor) {
    return link(symbol, descriptor, CRITICAL);
  }

  /**
   * Like {@link #critical}, and its pointers may be segments of arrays, which stay where they are
   * during the call.
   *
   * @param symbol its name in C
   * @param descriptor its type
   * @return a handle; if the library lacks the symbol, one that throws {@link
   *     MissingSymbolException}
   */
  public MethodHandle criticalWithHeap(String symbol, FunctionDescriptor descriptor) {
    return link(symbol, descriptor, CRITICAL_WITH_HEAP);
  }

  /**
   * Links a function whose errno is wanted: the handle takes a segment of {@link Errno#LAYOUT}
   * before its other arguments.
   *
   * @param symbol its name in C
   * @param descriptor its type
   * @return a handle; if the library lacks the symbol, one that throws {@link
   *     MissingSymbolException}
   */
  public MethodHandle capturingErrno(String symbol, FunctionDescriptor descriptor) {
    return link(symbol, descriptor, Errno.CAPTURE);
  }

  /**
   * Links a function with a variable number of arguments whose errno is wanted: the handle takes a
   * segment of {@link Errno#LAYOUT} before its other arguments.
   *
   * @param symbol its name in C
   * @param descriptor its type, as it is called here
   * @param firstVariable the index of the first argument that may be left out
   * @return a handle; if the library lacks the symbol, one that throws {@link
   *     MissingSymbolException}
   */
  public MethodHandle variadicCapturingErrno(
      String symbol, FunctionDescriptor descriptor, int firstVariable) {
    return link(symbol, descriptor, Errno.CAPTURE, Linker.Option.firstVariadicArg(firstVariable));
  }

  /**
   * Links a type of function instead of a function: the handle takes the function's address, a
   * {@link MemorySegment}, before its other arguments. One such handle, kept in a {@code static
   * final} field, calls the pointers that C libraries keep in structures; a handle bound to each
   * pointer costs several times as much. For functions that neither block nor call back into Java.
   *
   * @param descriptor the type
   * @return a handle
   */
  @SuppressWarnings("restricted")
  public static MethodHandle pointerCritical(FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(descriptor, CRITICAL);
  }

  /**
   * Links a type of function that may block or call back: the handle takes the function's address,
   * a {@link MemorySegment}, before its other arguments.
   *
   * @param descriptor the type
   * @return a handle
   */
  @SuppressWarnings("restricted")
  public static MethodHandle pointerPlain(FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(descriptor);
  }

  /**
   * Links a type of function whose errno is wanted: the handle takes the function's address and a
   * segment of {@link Errno#LAYOUT} before its other arguments.
   *
   * @param descriptor the type
   * @return a handle
   */
  @SuppressWarnings("restricted")
  public static MethodHandle pointerCapturingErrno(FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(descriptor, Errno.CAPTURE);
  }

  @SuppressWarnings("restricted")
  private MethodHandle link(
      String symbol, FunctionDescriptor descriptor, Linker.Option... options) {
    Optional<MemorySegment> address = find(symbol);
    if (address.isPresent()) {
      return LINKER.downcallHandle(address.get(), descriptor, options);
    }
    MethodType type = LINKER.downcallHandle(descriptor, options).type().dropParameterTypes(0, 1);
    MethodHandle make = MethodHandles.insertArguments(MISSING, 0, toString(), symbol);
    MethodHandle thrower =
        MethodHandles.foldArguments(
            MethodHandles.throwException(type.returnType(), MissingSymbolException.class), make);
    return MethodHandles.dropArguments(thrower, 0, type.parameterList());
  }

  private static MethodHandle missing() {
    try {
      return MethodHandles.lookup()
          .findConstructor(
              MissingSymbolException.class,
              MethodType.methodType(void.class, String.class, String.class));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  @Override
  public String toString() {
    return name + " (" + origin + ")";
  }
}
