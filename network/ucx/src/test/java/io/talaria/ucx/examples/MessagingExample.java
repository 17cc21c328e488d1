// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.Worker;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Messages that are matched by tag: a question with tag 1, the answer with tag 2. */
final class MessagingExample {
  private static final long QUESTION = 1;
  private static final long ANSWER = 2;
  private static final long ALL_BITS = -1;

  private MessagingExample() {}

  static String run() throws Exception {
    return Sides.run(
        Context.Options.of(Feature.TAG), MessagingExample::ask, MessagingExample::answer);
  }

  private static String ask(Sides sides, Worker worker, Endpoint other) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(100);
      // Say where the answer goes before asking.
      long answer = worker.receiveTag(room, 0, 100, ANSWER, ALL_BITS);
      MemorySegment question = arena.allocateFrom("how are you?");
      Sides.finish(worker, other.sendTag(question, 0, question.byteSize(), QUESTION, 0));
      Sides.finish(worker, answer);
      return "sent «" + question.getString(0) + "», received «" + room.getString(0) + "»";
    }
  }

  private static String answer(Sides sides, Worker worker, Endpoint other) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(100);
      Sides.finish(worker, worker.receiveTag(room, 0, 100, QUESTION, ALL_BITS));
      MemorySegment answer = arena.allocateFrom(room.getString(0).length() + " letters of thanks");
      Sides.finish(worker, other.sendTag(answer, 0, answer.byteSize(), ANSWER, 0));
      return "";
    }
  }
}
