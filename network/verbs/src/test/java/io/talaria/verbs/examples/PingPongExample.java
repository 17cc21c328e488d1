// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

/** Messages there and back. */
final class PingPongExample {
  private static final int ROUNDS = 100;

  private PingPongExample() {}

  static String run(Here here) throws Exception {
    try (Ends ends = new Ends(here)) {
      for (int round = 0; round < ROUNDS; round++) {
        message(ends.near, ends.far, "ping " + round);
        message(ends.far, ends.near, "pong " + round);
      }
      return ROUNDS + " round trips, the last answer is «" + ends.near.read(2048, 7) + "»";
    }
  }

  /** A receive request must be there before the message comes. */
  private static void message(Ends.End from, Ends.End to, String text) throws Exception {
    to.receive.request(0).id(1).local(to.region, 2048, 64);
    Here.posted(to.pair.post(to.receive, 0, 1));
    from.write(0, text);
    from.send.send(0).id(2).local(from.region, 0, text.length()).signaled();
    Here.posted(from.pair.post(from.send, 0, 1));
    Here.await(from.queue, from.done);
    Here.await(to.queue, to.done);
    Here.check(to.done.bytes(0) == text.length(), to.done.bytes(0) + " bytes came");
    Here.check(to.read(2048, text.length()).equals(text), "the text that came");
  }
}
