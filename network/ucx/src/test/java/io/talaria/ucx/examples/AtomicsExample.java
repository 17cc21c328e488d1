// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.MemoryRegion;
import io.talaria.ucx.RemoteKey;
import io.talaria.ucx.RemoteMemory;
import io.talaria.ucx.Status;
import io.talaria.ucx.Worker;

/** A counter and a lock in memory of the other side. */
final class AtomicsExample {
  private static final long COUNTER = 0;
  private static final long LOCK = 64;

  private AtomicsExample() {}

  static String run() throws Exception {
    return Sides.run(
        Context.Options.of(Feature.RMA, Feature.ATOMIC_32, Feature.ATOMIC_64),
        AtomicsExample::count,
        AtomicsExample::offer);
  }

  private static String count(Sides sides, Worker worker, Endpoint other) throws Exception {
    try (RemoteMemory memory = other.unpack(RemoteKey.of(sides.swap(new byte[0])))) {
      long last = 0;
      for (int i = 0; i < 100; i++) {
        last = fetched(worker, memory.fetchAddLong(COUNTER, 3));
      }
      boolean locked = fetched(worker, memory.compareAndSwapInt(LOCK, 0, 1)) == 0;
      boolean twice = fetched(worker, memory.compareAndSwapInt(LOCK, 0, 1)) == 0;
      Sides.finish(worker, memory.addLong(COUNTER, 1));
      Sides.finish(worker, other.flush());
      long end = fetched(worker, memory.fetchAddLong(COUNTER, 0));
      sides.meet(worker);
      return "counted to " + last + ", then " + end + "; locked: " + locked + ", again: " + twice;
    }
  }

  private static long fetched(Worker worker, long request) {
    while (worker.status(request) == Status.IN_PROGRESS) {
      worker.progress();
    }
    long value = worker.fetched(request);
    Sides.finish(worker, request);
    return value;
  }

  private static String offer(Sides sides, Worker worker, Endpoint other) throws Exception {
    try (MemoryRegion region = MemoryRegion.allocate(worker.context(), 128)) {
      region.memory().fill((byte) 0);
      byte[] ignored = sides.swap(region.pack().toBytes());
      sides.meet(worker);
      return "";
    }
  }
}
