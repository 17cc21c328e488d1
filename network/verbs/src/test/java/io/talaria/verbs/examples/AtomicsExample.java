// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.verbs.DeviceAttributes;

/** A counter in remote memory: additions, and a swap that succeeds once. */
final class AtomicsExample {
  private static final int ADDITIONS = 10;

  private AtomicsExample() {}

  static String run(Here here) throws Exception {
    try (Ends ends = new Ends(here)) {
      if (ends.context.attributes().atomics() == DeviceAttributes.Atomics.NONE) {
        return "this device has no atomic operations";
      }
      Ends.End near = ends.near;
      long address = ends.far.region.remoteAddress();
      int key = ends.far.region.remoteKey();
      for (int i = 0; i < ADDITIONS; i++) {
        near.send.fetchAdd(0, 3).id(1).local(near.region, 0, 8).remote(address, key).signaled();
        Here.posted(near.pair.post(near.send, 0, 1));
        Here.await(near.queue, near.done);
      }
      long last = near.region.memory().get(JAVA_LONG, 0);
      near.send
          .compareSwap(0, 3L * ADDITIONS, 1)
          .id(2)
          .local(near.region, 8, 8)
          .remote(address, key)
          .signaled();
      Here.posted(near.pair.post(near.send, 0, 1));
      Here.await(near.queue, near.done);
      long swapped = near.region.memory().get(JAVA_LONG, 8);
      long now = ends.far.region.memory().get(JAVA_LONG, 0);
      return "the last addition found " + last + ", the swap " + swapped + ", left is " + now;
    }
  }
}
