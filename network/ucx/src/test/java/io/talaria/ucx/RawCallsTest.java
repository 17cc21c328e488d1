// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_MADV_WILLNEED;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_ADVISE_PARAM_FIELD_ADVICE;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_ADVISE_PARAM_FIELD_LENGTH;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.MemAdviseParams;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Calls that only {@link Ucp} has: they reach UCX as its headers say. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class RawCallsTest {
  private static final int BYTES = 1 << 16;

  private final Arena arena = Arena.ofShared();
  private Pair pair;

  @BeforeEach
  void open() {
    pair = new Pair(ErrorHandling.PEER, Feature.RMA, Feature.WAKEUP);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  @Test
  void adviceOnMemoryIsTaken() {
    try (MemoryRegion region = MemoryRegion.allocate(pair.right.context(), BYTES)) {
      MemorySegment params = Native.zeroed(arena, MemAdviseParams.STRUCT);
      params.set(
          JAVA_LONG,
          MemAdviseParams.FIELD_MASK,
          UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS
              | UCP_MEM_ADVISE_PARAM_FIELD_LENGTH
              | UCP_MEM_ADVISE_PARAM_FIELD_ADVICE);
      params.set(JAVA_LONG, MemAdviseParams.ADDRESS, region.memory().address());
      params.set(JAVA_LONG, MemAdviseParams.LENGTH, BYTES);
      params.set(JAVA_INT, MemAdviseParams.ADVICE, (int) UCP_MADV_WILLNEED);
      long context = pair.right.context().handle();
      assertThat(Ucp.memAdvise(context, region.handle(), params.address())).isZero();
      params.set(JAVA_LONG, MemAdviseParams.LENGTH, 1L << 40);
      assertThat(Ucp.memAdvise(context, region.handle(), params.address()))
          .isEqualTo(Status.INVALID_PARAM);
    }
  }

  /** The peer's memory, reached by shared memory, is seen at an address of this process. */
  @Test
  void memoryOfAPeerOnThisHostHasAnAddressHere() {
    try (MemoryRegion region = MemoryRegion.allocate(pair.right.context(), BYTES)) {
      MemorySegment out = arena.allocate(JAVA_LONG, 2);
      long context = pair.right.context().handle();
      assertThat(Ucp.rkeyPack(context, region.handle(), out.address(), out.address() + 8)).isZero();
      long packed = out.get(JAVA_LONG, 0);
      pair.until(
          () -> Ucp.epRkeyUnpack(pair.toRight.open(), packed, out.address() + 8) == Status.OK);
      Ucp.rkeyBufferRelease(packed);
      long key = out.getAtIndex(JAVA_LONG, 1);
      region.memory().set(JAVA_LONG, 8, 0x1234_5678_9abc_def0L);
      int status = Ucp.rkeyPtr(key, region.memory().address() + 8, out.address());
      assertThat(status).isIn(Status.OK, Status.UNREACHABLE);
      if (status == Status.OK) {
        assertThat(Raw.longAt(out.get(JAVA_LONG, 0))).isEqualTo(0x1234_5678_9abc_def0L);
      }
      Ucp.rkeyDestroy(key);
    }
  }

  @Test
  void waitingOnMemoryEndsWhenItChanges() throws Exception {
    MemorySegment word = arena.allocate(JAVA_LONG);
    CountDownLatch done = new CountDownLatch(1);
    Thread writer =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  for (long i = 1; done.getCount() > 0; i++) {
                    word.set(JAVA_LONG, 0, i);
                    LockSupport.parkNanos(1_000_000);
                  }
                });
    Ucp.workerWaitMem(pair.right.entered(), word.address());
    done.countDown();
    writer.join();
    assertThat(pair.right.progress()).isGreaterThanOrEqualTo(0);
  }
}
