// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.negotiation.Frames;
import io.talaria.nio.negotiation.RawSession;
import io.talaria.nio.negotiation.RawSession.Frame;
import io.talaria.nio.shm.HostileMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;

/** A hostile server that the victim connects to, and its announcement. */
final class ListeningFoe extends Foe {
  private final ServerSocketChannel server;
  private final RawSession.Listener announcement;

  ListeningFoe(Variant variant) throws IOException {
    super(variant);
    server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    announcement = new RawSession.Listener(variant.runDir(), server.socket().getLocalPort());
  }

  @Override
  SocketChannel connect() throws IOException {
    SocketChannel victim = variant.provider().openSocketChannel();
    victim.connect(server.getLocalAddress());
    wire = server.accept();
    return victim;
  }

  @Override
  void begin() throws IOException {
    session = announcement.accept(answerMs);
    if (session == null) {
      throw new IOException("not dialled");
    }
    Frame handshake = session.read(answerMs);
    if (!Frames.greets(handshake)) {
      throw new IOException("no handshake");
    }
    memory = new HostileMemory(variant.shmDir(), false);
    memory.openRegion(Frames.region(handshake));
    session.write(Frames.welcome());
  }

  @Override
  void upgrade(SocketChannel victim, int ring) throws IOException {
    Frames.Offer offer;
    do {
      Frame frame = session.read(answerMs);
      if (frame == null) {
        throw new IOException("the session has ended");
      }
      if (Frames.ofTransport(frame)) {
        memory.told(frame.body());
        sayWhatIsThere();
      }
      offer = Frames.offer(frame);
    } while (offer == null);
    shared = memory.open(offer.payload());
    session.write(Frames.answer(offer.id()));
  }

  @Override
  public void close() throws IOException {
    super.close();
    server.close();
    announcement.close();
    Files.deleteIfExists(announcement.path);
  }
}
