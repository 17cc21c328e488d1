// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.negotiation.Frames;
import io.talaria.nio.negotiation.RawSession;
import io.talaria.nio.shm.HostileConnection;
import io.talaria.nio.shm.HostileMemory;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;

/**
 * A hostile peer: a session with the victim's process, and one connection at a time, of which it
 * has the other end of TCP and all shared memory. Confined to a thread.
 */
abstract class Foe implements AutoCloseable {
  static final int[] RINGS = {4096, 4096, 8192, 16_384};

  /** How long the victim may take to answer, before another connection is tried. */
  static final long ANSWER_MS = 1000;

  private static final int[] WILDNESS = {0, 1, 4, 84};
  private static final int FLOOD_BYTES = 20_000;

  /** Of this peer: a test that tries no other connection is more patient. */
  long answerMs = ANSWER_MS;

  final Variant variant;
  RawSession session;
  HostileMemory memory;

  /** Its end of the connection. */
  SocketChannel wire;

  HostileConnection shared;
  private final ByteBuffer bytes = ByteBuffer.allocateDirect(FLOOD_BYTES);
  private long tcpBytes;

  /** How many of 200 acts write what no peer should: a tame peer comes farther. */
  private int wildness;

  private boolean sessionEnded;

  Foe(Variant variant) {
    this.variant = variant;
    for (int i = 0; i < bytes.capacity(); i++) {
      bytes.put(i, (byte) (0x80 | i));
    }
  }

  /**
   * Makes one more connection and has the victim's process agree to share memory for it.
   *
   * @return the victim's end, blocking
   */
  SocketChannel meet(Random random) throws IOException {
    tcpBytes = 0;
    wildness = WILDNESS[random.nextInt(WILDNESS.length)];
    shared = null;
    SocketChannel victim = connect();
    try {
      if (session == null) {
        begin();
      }
      upgrade(victim, RINGS[random.nextInt(RINGS.length)]);
    } catch (IOException e) {
      hangUp();
      endSession();
      victim.close();
      throw e;
    }
    wire.configureBlocking(false);
    return victim;
  }

  abstract SocketChannel connect() throws IOException;

  abstract void begin() throws IOException;

  abstract void upgrade(SocketChannel victim, int ring) throws IOException;

  /** Does one thing that a peer can do, right or wrong. */
  void act(Random random) throws IOException {
    int what = random.nextInt(200);
    if (what < wildness) {
      shared.scribble(random);
    } else if (what < 150) {
      shared.behave(random, tcpBytes);
    } else if (what < 164) {
      memory.scribble(random);
    } else if (what < 172) {
      memory.hintAll();
    } else if (what < 182) {
      sendBytes(random);
    } else if (what < 184 + wildness / 14) {
      say(Frames.transport(shared.message(random)));
    } else if (what == 190 && random.nextInt(4) == 0) {
      say(Frames.transport(shared.grow(random)));
    } else if (what < 194) {
      shared.move(random, random.nextInt(200) < wildness);
    } else if (what == 194 && random.nextInt(4) == 0) {
      shared.end(random);
    } else if (what == 195 && random.nextInt(8) == 0) {
      say(
          Frames.damaged(
              random, Frames.any(random, variant.port(), () -> Frames.noise(random, 16))));
    } else {
      listen();
    }
  }

  private void sendBytes(Random random) {
    int most = random.nextInt(6) == 0 ? FLOOD_BYTES : 64;
    bytes.clear().limit(1 + random.nextInt(most));
    try {
      tcpBytes += wire.write(bytes);
    } catch (IOException e) {
      // The victim has closed.
    }
  }

  void say(ByteBuffer frame) {
    if (!sessionEnded) {
      try {
        session.write(frame);
      } catch (IOException e) {
        sessionEnded = true;
      }
    }
  }

  /** Tells the victim what belongs to the memory. */
  void sayWhatIsThere() throws IOException {
    for (ByteBuffer next = memory.toSay(); next != null; next = memory.toSay()) {
      session.write(Frames.transport(next));
    }
  }

  /** Takes what the victim has sent. */
  void listen() throws IOException {
    sessionEnded = sessionEnded || !session.drain();
    ByteBuffer away = ByteBuffer.allocate(4096);
    try {
      int n;
      do {
        n = wire.read(away.clear());
        for (int i = 0; i < n; i++) {
          requireNotSound(away.get(i));
        }
      } while (n > 0);
    } catch (IOException e) {
      // Reset: the victim has closed.
    }
  }

  private static void requireNotSound(byte value) {
    if (value > 1 && value < Program.SOUND_BYTES) { // a doorbell is 0
      throw new Finding("the victim has sent " + value + ", which is a sound connection's");
    }
  }

  /** Fails if the victim has written another connection's bytes into memory of this one. */
  void check() {
    if (shared != null && shared.holdsByteBelow(Program.SOUND_BYTES)) {
      throw new Finding("a ring of a hostile peer holds bytes of a sound connection");
    }
  }

  /** Ends the connection, as a peer that closes or is killed. */
  void hangUp(Random random) throws IOException {
    if (wire.isOpen() && random.nextInt(3) == 0) {
      wire.setOption(StandardSocketOptions.SO_LINGER, 0);
    }
    hangUp();
  }

  private void hangUp() throws IOException {
    if (wire != null) {
      wire.close();
    }
  }

  /** After a connection: says so, and ends the session now and then. */
  void part(Random random) throws IOException {
    say(Frames.transport(shared.released()));
    listenToSession();
    if (sessionEnded || random.nextInt(20) == 0) {
      endSession();
    }
  }

  private void listenToSession() throws IOException {
    sessionEnded = sessionEnded || !session.drain();
  }

  private void endSession() throws IOException {
    if (session != null) {
      session.close();
      session = null;
      variant.settle(); // or the next connection would be offered to this session
    }
    if (memory != null) {
      memory.close();
      memory = null;
    }
    sessionEnded = false;
  }

  @Override
  public void close() throws IOException {
    hangUp();
    endSession();
  }
}
