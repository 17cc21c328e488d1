// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.RankGoneException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What accesses to memory that ranks share wait for. */
@Timeout(60)
class WindowMemoryTest {
  @Test
  void aMutexWhoseHolderIsGoneIsNotWaitedFor() {
    MemorySegment mapping = Arena.ofAuto().allocate(128, 64);
    WindowMemory memory = WindowMemory.shared(mapping, 0, 64);
    memory.lock().enter(1, holder -> {}); // It never leaves.
    memory.whileMutexIsHeld(
        0,
        holder -> {
          throw new RankGoneException(holder, "rank " + holder + " is gone");
        });
    TargetPart pair = new TargetPart(0, 0, 1, Layout.basic(BaseType.INT, 2));
    MemorySegment data = MemorySegment.ofArray(new byte[8]);
    assertThatThrownBy(() -> memory.accumulate(pair, 0, data, 0, 8, Arithmetic.MAXLOC, null, 0))
        .isInstanceOf(RankGoneException.class)
        .hasMessage("rank 1 is gone");
    TargetPart odd = new TargetPart(0, 1, 1, Layout.basic(BaseType.INT, 1));
    assertThatThrownBy(() -> memory.compareAndSwap(odd, 0, 5))
        .isInstanceOf(RankGoneException.class)
        .hasMessage("rank 1 is gone");
  }
}
