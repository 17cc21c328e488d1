// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** What UCX has been given is in the table, even if there is no memory left. */
class RequestTableTest {
  private static final int MANY = 5_000;

  /** Behind the operation nothing is allocated, which could fail. */
  @Test
  void aReservedPlaceNeedsNoMemory() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    RequestTable warm = new RequestTable();
    RequestTable table = new RequestTable();
    Object kept = new Object();
    long bytes = 0;
    for (int i = 0; i < 2 * MANY; i++) {
      RequestTable used = i < MANY ? warm : table; // loads what is loaded once
      used.reserve();
      long before = threads.getCurrentThreadAllocatedBytes();
      long number = used.put(null, kept, i, -i);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      bytes += i < MANY ? 0 : allocated;
      assertThat(number).isEqualTo(i % MANY + 2L);
    }
    assertThat(bytes).isZero();
  }
}
