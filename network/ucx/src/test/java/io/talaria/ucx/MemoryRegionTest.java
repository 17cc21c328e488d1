// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NeedsUcx.class)
@Timeout(60)
class MemoryRegionTest {
  @Test
  void memoryIsRegistered() {
    try (Context context = Pair.context(Feature.RMA);
        Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(10_000);
      MemoryRegion region = MemoryRegion.register(context, memory);
      assertThat(region.memory()).isSameAs(memory);
      assertThatIllegalStateException()
          .isThrownBy(context::close)
          .withMessageContaining("1 open workers or memory regions");
      region.close();
      region.close();
      assertThatIllegalStateException().isThrownBy(region::memory);
    }
  }

  @Test
  void memoryIsAllocatedAndGoesWithItsRegion() {
    try (Context context = Pair.context(Feature.RMA)) {
      MemoryRegion region = MemoryRegion.allocate(context, 100_000);
      MemorySegment memory = region.memory();
      assertThat(memory.byteSize()).isGreaterThanOrEqualTo(100_000);
      memory.fill((byte) 1);
      region.close();
      assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  /** The C library's qsort is the call that uses the memory; its comparison closes the region. */
  @Test
  @SuppressWarnings("restricted")
  void aRegionThatIsInUseCanBeClosedLater() throws Throwable {
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor comparison =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
    MethodHandle sort =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("qsort"),
            FunctionDescriptor.ofVoid(
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.ADDRESS));
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    try (Context context = Pair.context(Feature.RMA);
        Arena arena = Arena.ofConfined()) {
      MemoryRegion region = MemoryRegion.allocate(context, 8);
      MethodHandle closing =
          MethodHandles.lookup()
              .findStatic(
                  MemoryRegionTest.class,
                  "closeInsteadOfComparing",
                  MethodType.methodType(
                      int.class,
                      MemoryRegion.class,
                      AtomicReference.class,
                      MemorySegment.class,
                      MemorySegment.class))
              .bindTo(region)
              .bindTo(thrown);
      sort.invokeExact(region.memory(), 2L, 4L, linker.upcallStub(closing, comparison, arena));
      assertThat(thrown.get()).isInstanceOf(IllegalStateException.class);
      assertThat(region.pack().lengthBytes()).isGreaterThanOrEqualTo(8);
      assertThatIllegalStateException().isThrownBy(context::close);
      region.close();
      assertThatIllegalStateException().isThrownBy(region::memory);
    }
  }

  @SuppressWarnings("UnusedMethod") // found by name
  private static int closeInsteadOfComparing(
      MemoryRegion region, AtomicReference<Throwable> thrown, MemorySegment a, MemorySegment b) {
    try {
      region.close();
    } catch (IllegalStateException e) {
      thrown.set(e);
    }
    return a.equals(b) ? 0 : 1;
  }

  @Test
  void whatCannotBeRegisteredThrows() {
    try (Context context = Pair.context(Feature.RMA)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> MemoryRegion.register(context, MemorySegment.ofArray(new byte[8])));
      assertThatIllegalArgumentException().isThrownBy(() -> MemoryRegion.allocate(context, 0));
    }
  }

  @Test
  void aContextTellsWhatItIs() {
    try (Context context = Pair.context(Feature.RMA, Feature.TAG)) {
      assertThat(context.features()).containsExactlyInAnyOrder(Feature.RMA, Feature.TAG);
      assertThat(context.memoryTypes() & 1).isEqualTo(1);
      assertThat(context.threadMode()).isNotNull();
      assertThat(context.print()).contains("UCP context");
    }
  }
}
