// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.MessageFlags;
import io.talaria.ucx.SendFlags;
import io.talaria.ucx.Worker;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Messages that call a handler: a small request with its operands in the header, and a large reply
 * whose data stay at the sender until the handler has made room.
 */
final class ActiveMessagesExample {
  private static final int REQUEST = 1;
  private static final int REPLY = 2;

  private ActiveMessagesExample() {}

  static String run() throws Exception {
    return Sides.run(
        Context.Options.of(Feature.ACTIVE_MESSAGE),
        ActiveMessagesExample::ask,
        ActiveMessagesExample::serve);
  }

  private static String ask(Sides sides, Worker worker, Endpoint other) {
    try (Arena arena = Arena.ofConfined()) {
      int longs = 100_000;
      MemorySegment room = arena.allocate(longs * 8L, 8);
      long[] receiving = new long[1];
      worker.onMessage(REPLY, message -> receiving[0] = message.receive(room, 0));
      MemorySegment header = arena.allocate(8, 8);
      header.set(ValueLayout.JAVA_LONG, 0, longs);
      Sides.finish(worker, other.sendMessage(REQUEST, header, 8, header, 0, 0, MessageFlags.REPLY));
      while (receiving[0] == 0) {
        worker.progress();
      }
      Sides.finish(worker, receiving[0]);
      return "the last of "
          + longs
          + " squares is "
          + room.getAtIndex(ValueLayout.JAVA_LONG, longs - 1L);
    }
  }

  private static String serve(Sides sides, Worker worker, Endpoint other) {
    try (Arena arena = Arena.ofConfined()) {
      long[] sending = new long[1];
      worker.onMessage(
          REQUEST,
          message -> {
            long longs = message.headerLongAt(0);
            MemorySegment squares = arena.allocate(longs * 8, 8);
            for (long i = 0; i < longs; i++) {
              squares.setAtIndex(ValueLayout.JAVA_LONG, i, i * i);
            }
            sending[0] =
                message
                    .reply()
                    .sendMessage(
                        REPLY,
                        squares,
                        0,
                        squares,
                        0,
                        squares.byteSize(),
                        MessageFlags.RENDEZVOUS | SendFlags.ALWAYS_REQUEST);
          });
      while (sending[0] == 0) {
        worker.progress();
      }
      Sides.finish(worker, sending[0]);
      return "";
    }
  }
}
