// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

/** Remote memory, whose owner does nothing while it is written and read. */
final class ReadWriteExample {
  private ReadWriteExample() {}

  static String run(Here here) throws Exception {
    try (Ends ends = new Ends(here)) {
      Ends.End near = ends.near;
      // The peer tells where its memory is, and the key to it.
      long address = ends.far.region.remoteAddress();
      int key = ends.far.region.remoteKey();
      near.write(0, "written from afar");
      near.send.write(0).id(1).local(near.region, 0, 17).remote(address + 100, key);
      near.send.read(1).id(2).local(near.region, 500, 17).remote(address + 100, key).signaled();
      Here.posted(near.pair.post(near.send, 0, 2)); // one call; in this order
      Here.await(near.queue, near.done);
      String there = ends.far.read(100, 17);
      String back = near.read(500, 17);
      Here.check(there.equals(back), "what is there is «" + there + "», read was «" + back + "»");
      return "read back «" + back + "»";
    }
  }
}
