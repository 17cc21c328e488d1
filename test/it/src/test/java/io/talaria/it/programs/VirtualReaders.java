// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.consumer.RecordingStream;

/**
 * A virtual thread for each connection, which waits in a blocking read. The server echoes numbers;
 * the client sends one on each connection at the command {@code round}, from one thread, and its
 * virtual threads check what comes back.
 *
 * <p>{@code role=server|client}, {@code how=channel|stream}. Commands: {@code connect N} (client)
 * opens more connections and says {@code @connected}; {@code round} (client) says {@code @answered
 * ms=...}; {@code report} says {@code @report waiting=... platform=... pinnedMs=... cpuMs=...}.
 */
public final class VirtualReaders {
  private static final Duration PINNED = Duration.ofMillis(20);
  private static final long LIMIT_S = 60;

  private static final AtomicInteger WAITING = new AtomicInteger();
  private static final AtomicLong MAX_PINNED_MS = new AtomicLong();
  private static final List<SocketChannel> CHANNELS = new ArrayList<>();

  private static boolean streams;
  private static long rounds;
  private static volatile CountDownLatch answers = new CountDownLatch(0);

  private VirtualReaders() {}

  /**
   * Runs the program.
   *
   * @param arguments see above and {@link Endpoint}
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          streams = args.is("how", "stream", "channel");
          watchPinning();
          if (args.is("role", "server", "client")) {
            serve(args);
          }
          obey(args);
        });
  }

  private static void watchPinning() {
    @SuppressWarnings("resource") // It lives as long as the program.
    RecordingStream recording = new RecordingStream();
    recording.enable("jdk.VirtualThreadPinned").withThreshold(PINNED);
    recording.onEvent(
        "jdk.VirtualThreadPinned",
        event -> {
          MAX_PINNED_MS.accumulateAndGet(event.getDuration().toMillis(), Math::max);
          System.err.println(event);
        });
    recording.startAsync();
  }

  private static void obey(Args args) throws Exception {
    while (true) {
      String[] command = Console.command().split(" ");
      switch (command[0]) {
        case "connect" -> {
          connect(args, Integer.parseInt(command[1]));
          Console.say("connected");
        }
        case "round" -> round();
        case "report" -> report();
        default -> throw new IllegalStateException("unknown command " + command[0]);
      }
    }
  }

  private static void report() {
    long cpuMs =
        ProcessHandle.current().info().totalCpuDuration().map(Duration::toMillis).orElse(0L);
    Console.say(
        "report",
        "waiting",
        WAITING.get(),
        "platform",
        ManagementFactory.getThreadMXBean().getThreadCount(),
        "pinnedMs",
        MAX_PINNED_MS.get(),
        "cpuMs",
        cpuMs);
  }

  // ---- server

  private static void serve(Args args) throws IOException {
    ServerSocketChannel listener = Endpoint.listen(args);
    Console.daemon(
        "acceptor",
        () -> {
          while (true) {
            SocketChannel channel = listener.accept();
            start(() -> echo(channel));
          }
        });
  }

  private static void echo(SocketChannel channel) throws IOException {
    Numbers numbers = Numbers.of(channel);
    while (true) {
      numbers.write(numbers.read());
    }
  }

  // ---- client

  private static void connect(Args args, int connections) throws IOException {
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = SocketChannel.open(Endpoint.server(args));
      CHANNELS.add(channel);
      long wanted = number(CHANNELS.size(), rounds);
      start(() -> check(channel, wanted));
    }
  }

  private static void check(SocketChannel channel, long first) throws IOException {
    Numbers numbers = Numbers.of(channel);
    for (long wanted = first; ; wanted += Integer.MAX_VALUE) {
      long got = numbers.read();
      if (got != wanted) {
        throw new IOException("got " + got + " instead of " + wanted);
      }
      answers.countDown();
    }
  }

  private static long number(long connection, long round) {
    return connection + round * Integer.MAX_VALUE;
  }

  private static void round() throws Exception {
    long start = System.nanoTime();
    answers = new CountDownLatch(CHANNELS.size());
    for (int i = 0; i < CHANNELS.size(); i++) {
      Numbers.of(CHANNELS.get(i)).write(number(i + 1, rounds));
    }
    rounds++;
    if (!answers.await(LIMIT_S, TimeUnit.SECONDS)) {
      throw new IllegalStateException(answers.getCount() + " of the answers are missing");
    }
    Console.say("answered", "ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
  }

  // ---- both

  private static void start(Console.Task task) {
    Thread.startVirtualThread(
        () -> {
          try {
            task.run();
          } catch (EOFException e) {
            // The other program ends first.
          } catch (Throwable failure) {
            Console.fail(failure);
          }
        });
  }

  /** Numbers of eight bytes on a connection, by the channel or by the streams of its socket. */
  private interface Numbers {
    long read() throws IOException;

    void write(long number) throws IOException;

    static Numbers of(SocketChannel channel) throws IOException {
      return streams
          ? new ByStreams(channel.socket().getInputStream(), channel.socket().getOutputStream())
          : new ByChannel(channel, ByteBuffer.allocate(Long.BYTES));
    }
  }

  private record ByChannel(SocketChannel channel, ByteBuffer buffer) implements Numbers {
    @Override
    public long read() throws IOException {
      buffer.clear();
      while (buffer.hasRemaining()) {
        WAITING.incrementAndGet();
        int n = channel.read(buffer);
        WAITING.decrementAndGet();
        if (n < 0) {
          throw new EOFException();
        }
      }
      return buffer.getLong(0);
    }

    @Override
    public void write(long number) throws IOException {
      buffer.clear().putLong(0, number);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
    }
  }

  private record ByStreams(InputStream in, OutputStream out) implements Numbers {
    @Override
    public long read() throws IOException {
      WAITING.incrementAndGet();
      byte[] bytes = in.readNBytes(Long.BYTES);
      WAITING.decrementAndGet();
      if (bytes.length < Long.BYTES) {
        throw new EOFException();
      }
      return ByteBuffer.wrap(bytes).getLong();
    }

    @Override
    public void write(long number) throws IOException {
      out.write(ByteBuffer.allocate(Long.BYTES).putLong(number).array());
    }
  }
}
