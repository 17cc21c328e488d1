// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import io.talaria.it.kit.Greeting;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how long selects last on one connection, after a {@link Greeting}. Commands: {@code wait
 * MS N}: with the present interest, N selects of so many milliseconds must find nothing and last as
 * long as asked: says {@code @waited shortest=... median=...} (nanoseconds); {@code interest OPS};
 * {@code wake N}: says {@code @woken}; {@code hear N}: reads so many bytes and says {@code @heard
 * empty=...} (selects that returned early and empty); {@code fill}: writes until nothing more is
 * taken; {@code free}: waits until it can write again.
 */
public final class SelectTimes {
  private static final long LONG_MS = 20_000;

  /** A connection to which nothing could be written for so long is full: its ring has grown. */
  private static final long FULL_MS = 5_000;

  private final SocketChannel channel;
  private final Selector selector = Selector.open();
  private final SelectionKey key;

  private SelectTimes(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
    this.key = channel.register(selector, SelectionKey.OP_READ);
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          SocketChannel channel = Endpoint.open(args);
          Greeting.obey(channel);
          SelectTimes program = new SelectTimes(channel);
          while (true) {
            program.obey(Console.command().split(" "));
          }
        });
  }

  private void obey(String[] command) throws IOException {
    switch (command[0]) {
      case "wait":
        await(Long.parseLong(command[1]), Integer.parseInt(command[2]));
        break;
      case "interest":
        key.interestOps(Integer.parseInt(command[1]));
        Console.say("interested");
        break;
      case "wake":
        wake(Integer.parseInt(command[1]));
        break;
      case "hear":
        hear(Integer.parseInt(command[1]));
        break;
      case "fill":
        fill();
        break;
      case "free":
        free();
        break;
      default:
        throw new IllegalArgumentException(command[0]);
    }
  }

  private void await(long limitMs, int times) throws IOException {
    long[] slept = new long[times];
    long[] lasted = new long[times];
    for (int i = 0; i < times; i++) {
      long before = System.nanoTime();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(limitMs));
      long start = System.nanoTime();
      slept[i] = start - before;
      int ready = selector.select(limitMs);
      lasted[i] = System.nanoTime() - start;
      if (ready != 0 || !selector.selectedKeys().isEmpty()) {
        throw new IllegalStateException("something is ready: " + key.readyOps());
      }
    }
    Arrays.sort(slept);
    Arrays.sort(lasted);
    Console.say(
        "waited", "shortest", lasted[0], "median", lasted[times / 2], "slept", slept[times / 2]);
  }

  /** A wake-up ends the select it finds, or the next one, and only that one. */
  private void wake(int times) throws IOException {
    for (int i = 0; i < times; i++) {
      boolean early = i % 2 == 0;
      long delayNs = early ? 0 : TimeUnit.MILLISECONDS.toNanos(1 + i % 7);
      Console.daemon(
          "waker",
          () -> {
            LockSupport.parkNanos(delayNs);
            selector.wakeup();
          });
      long start = System.nanoTime();
      int ready = selector.select(LONG_MS);
      long lastedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      if (ready != 0 || lastedMs >= LONG_MS) {
        throw new IllegalStateException("a wake-up was missed: " + ready + ", " + lastedMs + " ms");
      }
    }
    Console.say("woken");
  }

  private void hear(int count) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
    int heard = 0;
    int empty = 0;
    while (heard < count) {
      if (selector.select(LONG_MS) == 0) {
        empty++;
        continue;
      }
      selector.selectedKeys().clear();
      buffer.clear();
      int read = channel.read(buffer);
      if (read == 0) {
        throw new IllegalStateException("readable, and nothing to read");
      }
      heard += read;
    }
    Console.say("heard", "empty", empty);
  }

  private void fill() throws IOException {
    key.interestOps(SelectionKey.OP_WRITE);
    ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
    long filled = 0;
    while (selector.select(FULL_MS) > 0) {
      selector.selectedKeys().clear();
      buffer.clear();
      filled += channel.write(buffer);
    }
    Console.say("filled", "bytes", filled);
  }

  private void free() throws IOException {
    if (selector.select(LONG_MS) != 1 || !key.isWritable()) {
      throw new IllegalStateException("not writable again within " + LONG_MS + " ms");
    }
    selector.selectedKeys().clear();
    Console.say("free");
  }
}
