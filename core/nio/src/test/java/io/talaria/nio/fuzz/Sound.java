// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.Connections;
import io.talaria.nio.NioTransport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A sound connection beside the attacked ones: its client sends bytes below {@link
 * Program#SOUND_BYTES} and must get the same back, for as long as the run lasts.
 */
final class Sound implements AutoCloseable {
  private static final int MAX_BYTES = 20_000;
  private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private final SocketChannel client;
  private final Thread thread;
  private volatile long trips;
  private volatile Throwable failure;
  private volatile boolean over;

  Sound(String name, SocketChannel client, long seed) {
    this.client = client;
    thread = new Thread(() -> run(new Random(seed)), name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Round trips so far. */
  long trips() {
    return trips;
  }

  /** Fails if the connection has been disturbed. */
  void check() {
    Throwable found = failure;
    if (found != null) {
      throw new Finding("a sound connection is disturbed: " + found, found);
    }
  }

  /** Whether the connection is in shared memory. */
  boolean accelerated() throws IOException {
    InetSocketAddress local = (InetSocketAddress) client.getLocalAddress();
    return Connections.snapshot().stream()
        .anyMatch(c -> local.equals(c.local()) && c.transport() == NioTransport.SHM);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
  private void run(Random random) {
    try {
      ByteBuffer there = ByteBuffer.allocateDirect(MAX_BYTES);
      ByteBuffer back = ByteBuffer.allocate(MAX_BYTES);
      while (!over) {
        there.clear().limit(1 + random.nextInt(random.nextInt(10) == 0 ? MAX_BYTES : 500));
        long key = random.nextLong();
        for (int i = 0; i < there.limit(); i++) {
          there.put(i, at(key, i));
        }
        back.clear().limit(there.limit());
        exchange(there, back);
        for (int i = 0; i < back.limit(); i++) {
          if (back.get(i) != at(key, i)) {
            throw new IOException(
                "byte " + i + " of " + back.limit() + " is " + back.get(i) + ", not " + at(key, i));
          }
        }
        trips++;
        LockSupport.parkNanos(PAUSE_NS);
      }
    } catch (IOException | RuntimeException | Error e) {
      if (!over) {
        failure = e;
      }
    }
  }

  /** In pieces, because nobody reads while both sides write. */
  private void exchange(ByteBuffer there, ByteBuffer back) throws IOException {
    int end = there.limit();
    while (back.position() < end) {
      there.limit(Math.min(end, there.position() + 2000));
      while (there.hasRemaining()) {
        client.write(there);
      }
      while (back.position() < there.position()) {
        if (client.read(back) < 0) {
          throw new IOException("the end, after " + back.position() + " bytes");
        }
      }
    }
  }

  private static byte at(long key, int position) {
    return (byte) (1 + ((key >>> (position & 31)) + position) % (Program.SOUND_BYTES - 1) & 31);
  }

  @Override
  public void close() throws IOException {
    over = true;
    client.close();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
