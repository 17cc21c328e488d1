// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.negotiation.Frames;
import io.talaria.nio.negotiation.RawSession;
import io.talaria.nio.negotiation.RawSession.Frame;
import io.talaria.nio.shm.HostileMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Sessions in which anything is said: right frames, damaged ones, earlier ones once more, and
 * noise. An input is something sent.
 */
final class FrameCase {
  private static final int SESSIONS = 10;
  private static final int MAX_FRAMES = 20;
  private static final int MAX_NOISE_BYTES = 5000;

  private final Variant variant;
  private final Random random;

  FrameCase(Variant variant, Random random) {
    this.variant = variant;
    this.random = random;
  }

  /** Dials the victim's listener; returns the number of inputs. */
  int againstListener() throws IOException {
    int sent = 0;
    for (int i = 0; i < SESSIONS; i++) {
      try (HostileMemory memory = new HostileMemory(variant.shmDir(), true);
          RawSession session = RawSession.dial(variant.announcement())) {
        if (random.nextInt(5) != 0) {
          session.write(Frames.hello(variant.region(memory, random).make()));
          sent++;
          if (random.nextBoolean()) {
            session.read(Foe.ANSWER_MS);
          }
        }
        sent += babble(session, memory);
      } catch (IOException e) {
        sent++; // it has hung up
      }
    }
    return sent;
  }

  /** Has the victim dial a listener; returns the number of inputs. */
  int againstClient() throws IOException {
    int sent = 0;
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      RawSession.Listener announcement =
          new RawSession.Listener(variant.runDir(), server.socket().getLocalPort());
      try (announcement;
          SocketChannel victim = variant.provider().openSocketChannel()) {
        victim.connect(server.getLocalAddress());
        try (SocketChannel wire = server.accept();
            RawSession session = announcement.accept(Foe.ANSWER_MS);
            HostileMemory memory = new HostileMemory(variant.shmDir(), false)) {
          if (session != null && wire.isOpen()) {
            sent = talk(session, memory);
          }
        }
      } finally {
        Files.deleteIfExists(announcement.path);
      }
    }
    return sent;
  }

  private int talk(RawSession session, HostileMemory memory) throws IOException {
    int sent = 0;
    try {
      Frame handshake = session.read(Foe.ANSWER_MS);
      if (Frames.greets(handshake) && random.nextInt(4) != 0) {
        session.write(Frames.welcome());
        sent++;
        Frames.Offer offer = Frames.offer(session.read(Foe.ANSWER_MS));
        if (offer != null && random.nextBoolean()) {
          session.write(Frames.damaged(random, Frames.answer(offer.id())));
          sent++;
        }
      }
      sent += babble(session, memory);
    } catch (IOException e) {
      sent++;
    }
    return sent;
  }

  private int babble(RawSession session, HostileMemory memory) throws IOException {
    List<ByteBuffer> said = new ArrayList<>();
    for (int left = random.nextInt(MAX_FRAMES); left > 0; left--) {
      ByteBuffer next =
          switch (random.nextInt(8)) {
            case 0 -> Frames.noise(random, MAX_NOISE_BYTES);
            case 1 -> said.isEmpty() ? frame(memory) : said.get(random.nextInt(said.size()));
            default -> Frames.damaged(random, frame(memory));
          };
      said.add(next.duplicate());
      session.write(next.duplicate());
    }
    return said.size();
  }

  private ByteBuffer frame(HostileMemory memory) throws IOException {
    return Frames.any(random, variant.port(), variant.region(memory, random));
  }
}
