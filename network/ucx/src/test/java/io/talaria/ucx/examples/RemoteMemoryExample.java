// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.MemoryRegion;
import io.talaria.ucx.RemoteKey;
import io.talaria.ucx.RemoteMemory;
import io.talaria.ucx.Worker;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory of the other side, written and read without its doing. */
final class RemoteMemoryExample {
  private static final long BYTES = 1 << 20;
  private static final long MANY_BYTES = 1_000_000;

  private RemoteMemoryExample() {}

  static String run() throws Exception {
    return Sides.run(
        Context.Options.of(Feature.RMA), RemoteMemoryExample::access, RemoteMemoryExample::offer);
  }

  private static String access(Sides sides, Worker worker, Endpoint other) throws Exception {
    RemoteKey key = RemoteKey.of(sides.swap(new byte[0]));
    try (Arena arena = Arena.ofConfined();
        RemoteMemory memory = other.unpack(key)) {
      MemorySegment text = arena.allocateFrom("written from afar");
      Sides.finish(worker, memory.put(text, 0, text.byteSize(), 1000, 0));
      // Only a flush tells that it is there, and so may be read again.
      Sides.finish(worker, other.flush());
      MemorySegment back = arena.allocate(text.byteSize());
      Sides.finish(worker, memory.get(back, 0, back.byteSize(), 1000));
      MemorySegment many = arena.allocate(MANY_BYTES);
      for (long i = 0; i < MANY_BYTES; i++) {
        many.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >> 8)));
      }
      Sides.finish(worker, memory.put(many, 0, MANY_BYTES, 2000, 0));
      Sides.finish(worker, other.flush());
      MemorySegment manyBack = arena.allocate(MANY_BYTES);
      Sides.finish(worker, memory.get(manyBack, 0, MANY_BYTES, 2000));
      sides.meet(worker);
      long alike = manyBack.mismatch(many) < 0 ? MANY_BYTES : manyBack.mismatch(many);
      return "read back «" + back.getString(0) + "» and " + alike + " bytes";
    }
  }

  private static String offer(Sides sides, Worker worker, Endpoint other) throws Exception {
    try (MemoryRegion region = MemoryRegion.allocate(worker.context(), BYTES)) {
      byte[] ignored = sides.swap(region.pack().toBytes());
      // The region must be there as long as the other side uses it.
      sides.meet(worker);
      String text = region.memory().asSlice(1000).getString(0);
      if (!text.equals("written from afar")) {
        throw new IllegalStateException("found «" + text + "»");
      }
      return "";
    }
  }
}
