// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Pattern;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Sends a stream on each of many Netty connections, in writes from one byte to far beyond the
 * high-water mark, switches automatic reading off and on at random, half-closes, and checks every
 * byte of the echo and its end. Commands: {@code part N}: sends so many bytes on each, and says
 * {@code @part} when they are back; {@code rest}: sends the rest and half-closes, and says {@code
 * @echoed} when all is back; {@code close}.
 */
public final class NettyEchoUser {
  private final NioEventLoopGroup group;
  private final Channel[] channels;

  private NettyEchoUser(Args args) throws InterruptedException {
    group = new NioEventLoopGroup(args.count("loops", 1));
    channels = new Channel[args.count("connections", 64)];
    for (int i = 0; i < channels.length; i++) {
      Stream stream = new Stream(i + 1, args.number("bytes", 1 << 20));
      channels[i] =
          new Bootstrap()
              .group(group)
              .channel(NioSocketChannel.class)
              .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
              .handler(
                  new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                      channel.pipeline().addLast(stream);
                    }
                  })
              .connect(new InetSocketAddress("127.0.0.1", args.count("port", 0)))
              .sync()
              .channel();
    }
  }

  /**
   * Runs the program.
   *
   * @param arguments port, connections, bytes (on each), loops
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          NettyEchoUser user = new NettyEchoUser(args);
          Console.say("connected");
          while (true) {
            user.obey(Console.command().split(" "));
          }
        });
  }

  private void obey(String[] command) throws InterruptedException {
    switch (command[0]) {
      case "part":
        send(Long.parseLong(command[1]));
        Console.say("part");
        break;
      case "rest":
        send(Long.MAX_VALUE);
        Console.say("echoed");
        break;
      case "close":
        for (Channel channel : channels) {
          channel.close().sync();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        Console.say("closed");
        break;
      default:
        throw new IllegalArgumentException(command[0]);
    }
  }

  private void send(long bytes) throws InterruptedException {
    CountDownLatch left = new CountDownLatch(channels.length);
    for (Channel channel : channels) {
      channel.eventLoop().execute(() -> channel.pipeline().get(Stream.class).goOn(bytes, left));
    }
    left.await();
  }

  /** One connection; on its event loop. */
  private static final class Stream extends SimpleChannelInboundHandler<ByteBuf> {
    private static final int MAX_WRITE = 400 << 10;

    private final Pattern pattern;
    private final Random chance;
    private ChannelHandlerContext context;
    private CountDownLatch left;
    private long allowed;
    private long sent;
    private long received;

    Stream(long seed, long bytes) {
      this.pattern = new Pattern(seed, bytes);
      this.chance = new Random(seed);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
      context = added;
    }

    /** Lets so many more bytes go out, and counts down when they, or the peer's end, are back. */
    void goOn(long bytes, CountDownLatch done) {
      allowed = Math.min(bytes, pattern.totalBytes() - allowed) + allowed;
      left = done;
      send();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext changed) {
      send();
    }

    private void send() {
      while (sent < allowed && context.channel().isWritable()) {
        int size =
            (int) Math.min(1 + chance.nextInt(1 + chance.nextInt(MAX_WRITE)), allowed - sent);
        ByteBuf chunk = context.alloc().buffer(size);
        ByteBuffer memory = chunk.nioBuffer(0, size);
        pattern.fill(memory, sent);
        chunk.writerIndex(size);
        sent += size;
        boolean last = sent == pattern.totalBytes();
        context
            .writeAndFlush(chunk)
            .addListener(
                future -> {
                  if (!future.isSuccess()) {
                    Console.fail(future.cause());
                  } else if (last) {
                    ((DuplexChannel) context.channel()).shutdownOutput();
                  }
                });
      }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext reading, ByteBuf message) {
      int size = message.readableBytes();
      pattern.check(message.nioBuffer(), received);
      received += size;
      if (received == allowed && allowed < pattern.totalBytes()) {
        left.countDown();
      }
      if (chance.nextInt(16) == 0) {
        context.channel().config().setAutoRead(false);
        context
            .executor()
            .schedule(
                () -> context.channel().config().setAutoRead(true),
                chance.nextInt(500),
                TimeUnit.MICROSECONDS);
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext triggered, Object event) {
      if (event instanceof ChannelInputShutdownEvent) {
        if (received != pattern.totalBytes()) {
          Console.fail(
              new IllegalStateException(
                  "the echo ended after " + received + " of " + pattern.totalBytes() + " bytes"));
        }
        left.countDown();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
      if (received != pattern.totalBytes()) {
        Console.fail(new IllegalStateException("closed after " + received + " bytes"));
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext failed, Throwable cause) {
      Console.fail(cause);
    }
  }
}
