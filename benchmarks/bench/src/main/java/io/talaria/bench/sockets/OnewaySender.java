// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.WarmUp;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Writes messages in blocking mode, on each connection in turn, in batches: eight bytes that say
 * how many bytes follow, the messages, then it waits for the receiver's one byte.
 *
 * <p>Within a batch, TCP_NODELAY is off, as is the default and right for a stream: so the kernel
 * joins small messages, which doubles the rate of the JDK's sockets.
 */
final class OnewaySender implements AutoCloseable {
  private static final long BATCH_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long FIRST_ITERATIONS = 16;

  private final SocketChannel[] channels;
  private final ByteBuffer message;
  private final ByteBuffer header = ByteBuffer.allocateDirect(Long.BYTES);
  private final ByteBuffer answer = ByteBuffer.allocateDirect(1);

  OnewaySender(int port, int sizeBytes, int connections) throws IOException {
    message = ByteBuffer.allocateDirect(sizeBytes);
    channels = new SocketChannel[connections];
    for (int i = 0; i < connections; i++) {
      channels[i] = Sockets.connect(port);
    }
  }

  Measured run(Timing timing) throws IOException {
    long iterations = FIRST_ITERATIONS;
    long messages = 0;
    WarmUp warmUp = timing.warmUp(channels.length);
    long batchNs = Math.min(BATCH_NS, timing.measureNs());
    do {
      long took = batch(iterations);
      // The figure of merit for warmth is calls, of which round trips have two.
      messages += iterations * channels.length / 2;
      long wanted = iterations * batchNs / Math.max(took, 1);
      iterations = Math.min(Math.max(wanted, FIRST_ITERATIONS), iterations * 4);
    } while (!warmUp.done(messages));
    long tcpBytes = TransportProbe.look().tcpBytes();
    long sent = 0;
    long elapsed = 0;
    while (elapsed < timing.measureNs()) {
      elapsed += batch(iterations);
      sent += iterations * channels.length;
    }
    TransportProbe.Transports transports = TransportProbe.look();
    Map<String, Double> values = new HashMap<>();
    values.put(Measured.MESSAGES_PER_SECOND, sent * 1e9 / elapsed);
    values.put(Measured.GIGABYTES_PER_SECOND, (double) sent * message.capacity() / elapsed);
    values.put(Measured.TCP_BYTES, (double) (transports.tcpBytes() - tcpBytes));
    return new Measured(values, Map.of(), transports, warmUp.rested());
  }

  /**
   * Sends so many messages on each connection and returns the nanoseconds until the last answer.
   */
  private long batch(long iterations) throws IOException {
    long start = System.nanoTime();
    for (SocketChannel channel : channels) {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, false);
      header.clear();
      header.putLong(iterations * message.capacity()).flip();
      write(channel, header);
    }
    if (channels.length == 1) {
      send(channels[0], iterations);
    } else {
      sendInTurn(iterations);
    }
    for (SocketChannel channel : channels) {
      // Pushes out what the kernel holds back; else the last bytes of small messages on TCP would
      // wait 40 ms for a delayed acknowledgement.
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      answer.clear();
      if (channel.read(answer) < 0) {
        throw new EOFException("the receiver ended the connection");
      }
    }
    return System.nanoTime() - start;
  }

  private void send(SocketChannel channel, long count) throws IOException {
    for (long i = 0; i < count; i++) {
      message.clear();
      write(channel, message);
    }
  }

  private void sendInTurn(long iterations) throws IOException {
    for (long i = 0; i < iterations; i++) {
      for (SocketChannel channel : channels) {
        message.clear();
        write(channel, message);
      }
    }
  }

  private static void write(SocketChannel channel, ByteBuffer from) throws IOException {
    while (from.hasRemaining()) {
      channel.write(from);
    }
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : channels) {
      channel.close();
    }
  }
}
