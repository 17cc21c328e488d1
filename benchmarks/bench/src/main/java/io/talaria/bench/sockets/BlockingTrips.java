// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Latencies;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.HdrHistogram.Histogram;

/** Round trips on one connection in blocking mode. */
final class BlockingTrips implements Trips {
  private final SocketChannel channel;
  private final ByteBuffer out;
  private final ByteBuffer in;
  private final AllocMeter meter;

  BlockingTrips(int port, int sizeBytes, AllocMeter meter) throws IOException {
    this.channel = Sockets.connect(port);
    this.out = ByteBuffer.allocateDirect(sizeBytes);
    this.in = ByteBuffer.allocateDirect(sizeBytes);
    this.meter = meter;
  }

  @Override
  public long run(Histogram histogram, long lengthNs) throws IOException {
    long count = 0;
    long end = System.nanoTime() + lengthNs;
    long stop;
    do {
      long start = System.nanoTime();
      trip();
      stop = System.nanoTime();
      Latencies.record(histogram, stop - start);
      count++;
      if (meter != null) {
        meter.tick();
      }
    } while (stop - end < 0);
    return count;
  }

  private void trip() throws IOException {
    out.clear();
    while (out.hasRemaining()) {
      channel.write(out);
    }
    in.clear();
    while (in.hasRemaining()) {
      if (channel.read(in) < 0) {
        throw new EOFException("the server ended the connection");
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
