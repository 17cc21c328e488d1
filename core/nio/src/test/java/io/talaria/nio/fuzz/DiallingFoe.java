// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.negotiation.Frames;
import io.talaria.nio.negotiation.RawSession;
import io.talaria.nio.negotiation.RawSession.Frame;
import io.talaria.nio.shm.HostileMemory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/** A hostile client of the victim's listener. */
final class DiallingFoe extends Foe {
  private int offers;

  DiallingFoe(Variant variant) {
    super(variant);
  }

  @Override
  SocketChannel connect() throws IOException {
    wire = SocketChannel.open(variant.address());
    return variant.accept();
  }

  @Override
  void begin() throws IOException {
    memory = new HostileMemory(variant.shmDir(), true);
    session = RawSession.dial(variant.announcement());
    session.write(Frames.hello(memory.makeRegion()));
    if (!Frames.welcomes(session.read(answerMs))) {
      throw new IOException("not welcome");
    }
  }

  @Override
  void upgrade(SocketChannel victim, int ring) throws IOException {
    shared = memory.make(ring);
    sayWhatIsThere();
    int id = ++offers;
    session.write(
        Frames.offer(
            id,
            (InetSocketAddress) wire.getLocalAddress(),
            (InetSocketAddress) wire.getRemoteAddress(),
            shared.offer()));
    while (true) {
      Frame frame = session.read(answerMs);
      if (frame == null || Frames.refuses(frame, id)) {
        throw new IOException("refused");
      }
      if (Frames.answers(frame, id)) {
        return;
      }
    }
  }
}
