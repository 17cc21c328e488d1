// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.shm.HostileConnection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.function.IntFunction;

/**
 * What an ordinary program does with its end of a connection, and what it may expect whatever is at
 * the other end: counts that make sense, bytes of the peer's, and no exception but an IOException.
 * Bytes that it writes to a hostile peer are 0x40 to 0x7f. Confined to a thread.
 */
final class Program {
  /** Bytes of sound connections are below. */
  static final int SOUND_BYTES = 0x20;

  private static final int OWN = 0x40;
  private static final int MAX_BYTES = 12_000;

  private static final ByteBuffer OWN_DIRECT = ownBytes();
  private static final ByteBuffer OWN_ON_HEAP =
      ByteBuffer.allocate(MAX_BYTES).put(OWN_DIRECT.duplicate()).flip();

  private final ByteBuffer bytes;
  private final ByteBuffer[] heap = three(ByteBuffer::allocate);
  private final ByteBuffer[] direct = three(ByteBuffer::allocateDirect);
  private final SocketChannel channel;
  private final Random random;

  /** Whether a call has failed or said that the stream is over. */
  private boolean broken;

  Program(SocketChannel channel, Random random) {
    this.channel = channel;
    this.random = random;
    bytes = random.nextBoolean() ? OWN_DIRECT : OWN_ON_HEAP;
  }

  boolean broken() {
    return broken;
  }

  /** Reads once, in one of the ways there are. */
  void read() {
    try {
      if (random.nextInt(4) == 0) {
        ByteBuffer[] into = {room(0), room(1), room(2)};
        long room = (long) into[0].remaining() + into[1].remaining() + into[2].remaining();
        long n = channel.read(into);
        require(n >= -1 && n <= room, "a read of " + n + " bytes into " + room);
        long seen = 0;
        for (ByteBuffer each : into) {
          seen += each.position();
          requireTagged(each);
        }
        require(seen == Math.max(0, n), "a read of " + n + " bytes moved by " + seen);
        broken |= n < 0;
      } else {
        ByteBuffer into = room(0);
        int room = into.remaining();
        int n = channel.read(into);
        require(n >= -1 && n <= room, "a read of " + n + " bytes into " + room);
        require(into.position() == Math.max(0, n), "a read of " + n + " moved " + into.position());
        requireTagged(into);
        broken |= n < 0;
      }
    } catch (IOException e) {
      broken = true; // it may break its own connection
    }
  }

  /** Writes once, in one of the ways there are. */
  void write() {
    try {
      if (random.nextInt(4) == 0) {
        ByteBuffer[] from = {own(), own(), own()};
        long remaining = (long) from[0].remaining() + from[1].remaining() + from[2].remaining();
        long n = channel.write(from);
        long left = (long) from[0].remaining() + from[1].remaining() + from[2].remaining();
        require(n >= 0 && n == remaining - left, "a write of " + n + " of " + remaining);
      } else {
        ByteBuffer from = own();
        int remaining = from.remaining();
        int n = channel.write(from);
        require(
            n >= 0 && from.remaining() == remaining - n, "a write of " + n + " of " + remaining);
      }
    } catch (IOException e) {
      broken = true;
    }
  }

  /** Asks how much can be read, or ends a direction: seldom. */
  void askOrEnd() {
    try {
      switch (random.nextInt(120)) {
        case 0 -> channel.shutdownOutput();
        case 1 -> channel.shutdownInput();
        default -> {
          if (channel.isBlocking()) {
            int n = channel.socket().getInputStream().available();
            require(n >= 0, n + " bytes available");
          } else {
            require(channel.isOpen(), "a channel that nobody has closed is closed");
          }
        }
      }
    } catch (IOException e) {
      broken = true;
    }
  }

  /** Some room to read into. */
  private ByteBuffer room(int index) {
    ByteBuffer buffer = (random.nextBoolean() ? heap : direct)[index];
    return buffer.clear().limit(random.nextInt(random.nextInt(3) == 0 ? MAX_BYTES : 200));
  }

  /** Some bytes to write. */
  private ByteBuffer own() {
    return bytes.duplicate().limit(random.nextInt(random.nextInt(3) == 0 ? MAX_BYTES : 200));
  }

  private static ByteBuffer ownBytes() {
    ByteBuffer own = ByteBuffer.allocateDirect(MAX_BYTES);
    for (int i = 0; i < MAX_BYTES; i++) {
      own.put(i, (byte) (OWN | (i & (OWN - 1))));
    }
    return own;
  }

  private static ByteBuffer[] three(IntFunction<ByteBuffer> made) {
    return new ByteBuffer[] {made.apply(MAX_BYTES), made.apply(MAX_BYTES), made.apply(MAX_BYTES)};
  }

  private static void requireTagged(ByteBuffer read) {
    for (int i = 0; i < read.position(); i++) {
      if (!HostileConnection.tagged(read.get(i))) {
        throw new Finding(
            "byte " + i + " of " + read.position() + " is " + read.get(i) + ", not the peer's");
      }
    }
  }

  private static void require(boolean good, String what) {
    if (!good) {
      throw new Finding(what);
    }
  }
}
