// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import io.talaria.bench.harness.Latencies;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * Connections on some event loops to a {@link NettyServer}, all for round trips or all for messages
 * one way. Its methods are called by one thread and wait for the event loops; the caller that
 * opened it closes it.
 */
public final class NettyClient implements AutoCloseable {
  private static final int LARGE_BYTES = 4_096;
  private static final int LOW_MARK = 128 * 1024;
  private static final int HIGH_MARK = 512 * 1024;
  private static final long LIMIT_SECONDS = 60;

  private final EventLoopGroup group;
  private final InetSocketAddress server;
  private final List<Channel> channels = new ArrayList<>();
  private final Map<EventLoop, List<PingHandler>> pings = new LinkedHashMap<>();
  private final List<FloodHandler> floods = new ArrayList<>();

  /**
   * Creates a client without connections.
   *
   * @param server where they will lead
   * @param eventLoops how many event loops will share them
   */
  public NettyClient(InetSocketAddress server, int eventLoops) {
    this.server = server;
    group = new NioEventLoopGroup(eventLoops);
  }

  /**
   * Opens connections for round trips.
   *
   * @param sizeBytes the length of a message
   * @param connections how many
   * @param inFlight how many messages are under way on each at once
   * @throws IOException if one cannot be opened
   * @throws InterruptedException if interrupted
   */
  public void connectForEcho(int sizeBytes, int connections, int inFlight)
      throws IOException, InterruptedException {
    for (int i = 0; i < connections; i++) {
      PingHandler handler = new PingHandler(sizeBytes, inFlight);
      Channel channel =
          connect(FirstByteHandler.ECHO, new FixedLengthFrameDecoder(sizeBytes), handler);
      pings.computeIfAbsent(channel.eventLoop(), loop -> new ArrayList<>()).add(handler);
    }
  }

  /**
   * Returns after how many messages of a length programs flush as a rule.
   *
   * @param sizeBytes the length
   */
  public static int usualFlush(int sizeBytes) {
    return sizeBytes <= 256 ? 64 : sizeBytes <= 8_192 ? 16 : 4;
  }

  /**
   * Opens connections for messages one way.
   *
   * @param sizeBytes the length of a message
   * @param connections how many
   * @param flushEvery after how many messages a connection is flushed
   * @throws IOException if one cannot be opened
   * @throws InterruptedException if interrupted
   */
  public void connectForFlood(int sizeBytes, int connections, int flushEvery)
      throws IOException, InterruptedException {
    boolean large = sizeBytes >= LARGE_BYTES;
    for (int i = 0; i < connections; i++) {
      ByteBuf payload = PooledByteBufAllocator.DEFAULT.directBuffer(sizeBytes);
      if (large) {
        payload.writeZero(sizeBytes);
      }
      FloodHandler flood = new FloodHandler(sizeBytes, flushEvery, payload);
      connect(FirstByteHandler.SINK, flood);
      floods.add(flood);
    }
  }

  private Channel connect(byte first, ChannelHandler... handlers)
      throws IOException, InterruptedException {
    Channel channel =
        done(
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
                .connect(server));
    channels.add(channel);
    channel.writeAndFlush(channel.alloc().directBuffer(1).writeByte(first));
    return channel;
  }

  /** Waits for a channel, and throws as the compiler expects what Netty throws unseen. */
  static Channel done(ChannelFuture future) throws IOException, InterruptedException {
    if (future.await().isSuccess()) {
      return future.channel();
    }
    throw future.cause() instanceof IOException failure
        ? failure
        : new IOException(future.cause().toString(), future.cause());
  }

  /**
   * Makes round trips for a while on all connections at once.
   *
   * @param histogram where they are recorded
   * @param lengthNs how long
   * @return the time until the last was back
   * @throws InterruptedException if interrupted
   * @throws ExecutionException if a connection failed
   */
  public long ping(Histogram histogram, long lengthNs)
      throws InterruptedException, ExecutionException {
    List<PingRun> runs = new ArrayList<>();
    pings.forEach(
        (loop, handlers) -> {
          PingRun run = new PingRun(Latencies.histogram(), lengthNs);
          runs.add(run);
          loop.execute(() -> run.start(handlers));
        });
    long longest = 0;
    for (PingRun run : runs) {
      longest = Math.max(longest, await(run.done(), lengthNs));
      histogram.add(run.histogram());
    }
    return longest;
  }

  /**
   * Sends messages one way, so many on each connection.
   *
   * @param messages how many
   * @return the time until the server had counted them all
   * @throws InterruptedException if interrupted
   * @throws ExecutionException if a connection failed
   */
  public long flood(long messages) throws InterruptedException, ExecutionException {
    List<CompletableFuture<Long>> all = new ArrayList<>();
    for (int i = 0; i < floods.size(); i++) {
      CompletableFuture<Long> done = new CompletableFuture<>();
      FloodHandler handler = floods.get(i);
      channels.get(i).eventLoop().execute(() -> handler.send(messages, done));
      all.add(done);
    }
    long longest = 0;
    for (CompletableFuture<Long> done : all) {
      longest = Math.max(longest, await(done, 0));
    }
    return longest;
  }

  private static long await(CompletableFuture<Long> future, long expectedNs)
      throws InterruptedException, ExecutionException {
    try {
      return future.get(expectedNs + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new ExecutionException(
          new IOException("no answer for more than " + LIMIT_SECONDS + " s", e));
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
