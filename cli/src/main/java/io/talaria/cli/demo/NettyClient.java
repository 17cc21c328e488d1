// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.demo;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * Connections on one event loop to a {@link NettyServer}. Its methods are called by one thread and
 * wait for the event loop; whoever opened it closes it.
 */
final class NettyClient implements AutoCloseable {
  private static final int FLUSH_SMALL = 64;
  private static final int FLUSH_LARGE = 4;
  private static final int LARGE_BYTES = 4_096;
  private static final int LOW_MARK = 128 * 1024;
  private static final int HIGH_MARK = 512 * 1024;
  private static final long LIMIT_SECONDS = 60;

  private final EventLoopGroup group = new NioEventLoopGroup(1);
  private final List<Channel> channels = new ArrayList<>();
  private final List<PingHandler> pings = new ArrayList<>();
  private FloodHandler flood;

  /** Opens connections for round trips. */
  void connectForEcho(int port, int sizeBytes, int connections) throws InterruptedException {
    for (int i = 0; i < connections; i++) {
      PingHandler handler = new PingHandler(sizeBytes);
      connect(port, new FixedLengthFrameDecoder(sizeBytes), handler);
      pings.add(handler);
    }
  }

  /** Opens a connection for messages one way. */
  void connectForFlood(int port, int sizeBytes) throws InterruptedException {
    boolean large = sizeBytes >= LARGE_BYTES;
    ByteBuf payload = PooledByteBufAllocator.DEFAULT.directBuffer(sizeBytes);
    if (large) {
      payload.writeZero(sizeBytes);
    }
    flood = new FloodHandler(sizeBytes, large ? FLUSH_LARGE : FLUSH_SMALL, payload);
    connect(port, flood);
  }

  private void connect(int port, ChannelHandler... handlers) throws InterruptedException {
    channels.add(
        new Bootstrap()
            .group(group)
            .channel(NioSocketChannel.class)
            .option(
                ChannelOption.WRITE_BUFFER_WATER_MARK,
                new WriteBufferWaterMark(LOW_MARK, HIGH_MARK))
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(handlers);
                  }
                })
            .connect(InetAddress.getLoopbackAddress(), port)
            .sync()
            .channel());
  }

  /** Makes round trips for a while, one in flight on each connection; returns the time it took. */
  long ping(Histogram histogram, long lengthNs) throws InterruptedException, ExecutionException {
    PingRun run = new PingRun(histogram, lengthNs);
    channels.getFirst().eventLoop().execute(() -> run.start(pings));
    return await(run.done());
  }

  /** Sends messages one way; returns the time until the server had counted them all. */
  long flood(long messages) throws InterruptedException, ExecutionException {
    CompletableFuture<Long> done = new CompletableFuture<>();
    channels.getFirst().eventLoop().execute(() -> flood.send(messages, done));
    return await(done);
  }

  private static long await(CompletableFuture<Long> future)
      throws InterruptedException, ExecutionException {
    try {
      return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new ExecutionException("no end within " + LIMIT_SECONDS + " s", e);
    }
  }

  @Override
  public void close() {
    for (Channel channel : channels) {
      channel.close().syncUninterruptibly();
    }
    group.shutdownGracefully(0, LIMIT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
