// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import java.util.ArrayList;
import java.util.List;

/**
 * Opens a queue pair that the heap has no room for, in a JVM of its own with a small heap, and then
 * closes what it would belong to.
 */
final class ShortHeapMain {
  private static final int PART_BYTES = 1 << 20;

  /** What is left free: enough for small objects, and less than the queue pair needs. */
  private static final int FREE_PARTS = 4;

  /** For one more than half a million requests there are a million marks of 8 bytes. */
  private static final int REQUESTS = (1 << 19) + 1;

  private ShortHeapMain() {}

  /** Prints a line if all could be closed. */
  public static void main(String[] args) {
    try (DeviceList devices = DeviceList.open();
        Context context = devices.first().open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(REQUESTS + 1)) {
      QueuePair.Builder builder = QueuePair.rc(domain).send(queue, REQUESTS).receive(queue, 1);
      List<byte[]> filling = filled();
      try {
        builder.open().close();
        throw new IllegalStateException("the queue pair is open");
      } catch (OutOfMemoryError e) {
        filling.clear();
      }
      System.out.println("reserved: " + queue.reserved());
    }
    System.out.println("closed");
  }

  private static List<byte[]> filled() {
    List<byte[]> filling = new ArrayList<>();
    try {
      while (true) {
        filling.add(new byte[PART_BYTES]);
      }
    } catch (OutOfMemoryError e) {
      filling.subList(filling.size() - FREE_PARTS, filling.size()).clear();
      return filling;
    }
  }
}
