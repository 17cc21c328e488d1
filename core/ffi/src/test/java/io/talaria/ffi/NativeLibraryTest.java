// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativeLibraryTest {
  private static final LibrarySpec MATH =
      new LibrarySpec("libm", "test.libm", List.of("libnothing.so.9", "libm.so.6"), "Install it.");
  private static final FunctionDescriptor REAL =
      FunctionDescriptor.of(ValueLayout.JAVA_DOUBLE, ValueLayout.JAVA_DOUBLE);

  @Test
  void theFirstNameThatTheLoaderKnowsIsTaken() throws Throwable {
    NativeLibrary library = NativeLibrary.open(MATH);
    assertThat(library.origin()).isEqualTo("libm.so.6");
    assertThat((double) library.plain("floor", REAL).invokeExact(1.5)).isEqualTo(1.0);
    assertThat((double) library.critical("floor", REAL).invokeExact(2.5)).isEqualTo(2.0);
  }

  @Test
  void aMissingLibraryNamesTheHintAndTheProperty() {
    LibrarySpec spec = new LibrarySpec("X", "test.x", List.of("libx.so.9"), "Install x.");
    assertThatThrownBy(() -> NativeLibrary.open(spec))
        .isInstanceOf(MissingLibraryException.class)
        .hasMessage(
            "X is not installed: the loader finds no libx.so.9. Install x."
                + " Or name the file by the property test.x.");
  }

  @Test
  void aPropertyThatNamesNoFileIsNotPassedOver() {
    System.setProperty("test.libm", "/nowhere/libm.so");
    try {
      assertThatThrownBy(() -> NativeLibrary.open(MATH))
          .isInstanceOf(MissingLibraryException.class)
          .hasMessageContaining("/nowhere/libm.so, from the property test.libm");
    } finally {
      System.clearProperty("test.libm");
    }
  }

  @Test
  void aMissingSymbolIsKnownBeforeAndThrowsWhenItIsCalled() {
    NativeLibrary library = NativeLibrary.open(MATH);
    assertThat(library.has("floor")).isTrue();
    assertThat(library.has("talaria_floor")).isFalse();
    MethodHandle missing = library.critical("talaria_floor", REAL);
    assertThatThrownBy(() -> assertThat((double) missing.invokeExact(1.0)).isZero())
        .isInstanceOf(MissingSymbolException.class)
        .hasMessageContaining("libm (libm.so.6) has no talaria_floor");
  }

  @Test
  void errnoIsFoldedIntoTheResult() throws Throwable {
    MethodHandle close =
        NativeLibrary.libc()
            .capturingErrno(
                "close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      int result = (int) close.invokeExact(errno, -1);
      assertThat(Errno.folded(result, errno)).isEqualTo(-9);
    }
  }

  @Test
  void oneHandleCallsAnyFunctionOfItsType() throws Throwable {
    NativeLibrary library = NativeLibrary.open(MATH);
    MemorySegment floor = library.find("floor").orElseThrow();
    MemorySegment ceil = library.find("ceil").orElseThrow();
    MethodHandle critical = NativeLibrary.pointerCritical(REAL);
    assertThat((double) critical.invokeExact(floor, 1.5)).isEqualTo(1.0);
    assertThat((double) critical.invokeExact(ceil, 1.5)).isEqualTo(2.0);
    assertThat((double) NativeLibrary.pointerPlain(REAL).invokeExact(ceil, 1.5)).isEqualTo(2.0);
    MemorySegment close = NativeLibrary.libc().find("close").orElseThrow();
    MethodHandle capturing =
        NativeLibrary.pointerCapturingErrno(
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(Errno.LAYOUT);
      int result = (int) capturing.invokeExact(close, errno, -1);
      assertThat(Errno.folded(result, errno)).isEqualTo(-9);
    }
  }

  @Test
  @SuppressWarnings("restricted")
  void anUpcallThatThrowsReturnsTheValueGiven() throws Throwable {
    FunctionDescriptor type =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    MethodHandle target =
        MethodHandles.lookup()
            .findStatic(
                NativeLibraryTest.class,
                "failing",
                MethodType.methodType(int.class, long.class, long.class));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stub = Upcall.guarded(target, type, -5, arena);
      MethodHandle back = Linker.nativeLinker().downcallHandle(stub, type);
      assertThat((int) back.invokeExact(1L, 2L)).isEqualTo(-5);
    }
  }

  @SuppressWarnings("unused")
  private static int failing(long first, long second) {
    throw new IllegalStateException("on purpose: " + first + second);
  }
}
