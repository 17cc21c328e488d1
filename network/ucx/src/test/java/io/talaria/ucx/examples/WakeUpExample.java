// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.Status;
import io.talaria.ucx.Worker;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Waiting without spinning: arm the worker, sleep on its event descriptor, progress. The descriptor
 * may also be put into an epoll set beside sockets.
 */
final class WakeUpExample {
  private WakeUpExample() {}

  static String run() throws Exception {
    return Sides.run(
        Context.Options.of(Feature.TAG, Feature.WAKEUP), WakeUpExample::sleep, WakeUpExample::wake);
  }

  private static String sleep(Sides sides, Worker worker, Endpoint other) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(8);
      long receive = worker.receiveTag(room, 0, 8, 1, -1);
      boolean slept = false;
      int status;
      while ((status = worker.poll(receive)) == Status.IN_PROGRESS) {
        if (worker.progress() == 0) {
          // Arms; sleeps by poll(2) on the descriptor unless there is something to progress.
          slept |= worker.awaitEvent(1000);
        }
      }
      return "descriptor "
          + (worker.eventDescriptor() >= 0 ? "there" : "missing")
          + (slept ? ", woken" : ", not needed")
          + ": "
          + Status.text(status);
    }
  }

  private static String wake(Sides sides, Worker worker, Endpoint other) throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(8);
      // Let the other side fall asleep.
      Thread.sleep(100);
      Sides.finish(worker, other.sendTag(message, 0, 8, 1, 0));
      return "";
    }
  }
}
