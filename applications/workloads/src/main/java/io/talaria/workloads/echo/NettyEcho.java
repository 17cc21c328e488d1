// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.codec.string.StringDecoder;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.netty.NettyServer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.EOFException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Echoes by Netty. */
final class NettyEcho implements EchoLink {
  private final HostPort server;
  private final Thread owner = Thread.currentThread();
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final EventLoopGroup group = new NioEventLoopGroup(1);
  private final Channel channel;
  private volatile Throwable failure; // published by the event loop
  private volatile boolean closing;

  NettyEcho(HostPort server) throws HarnessException, InterruptedException {
    this.server = server;
    ChannelFuture connected =
        new Bootstrap()
            .group(group)
            .channel(NioSocketChannel.class)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel made) {
                    made.pipeline()
                        .addLast(
                            new LengthFieldBasedFrameDecoder(
                                MAX_BYTES + Integer.BYTES, 0, Integer.BYTES, 0, Integer.BYTES),
                            new LengthFieldPrepender(Integer.BYTES),
                            new StringDecoder(StandardCharsets.UTF_8),
                            new Answers());
                  }
                })
            .connect(server.host(), server.port())
            .await();
    if (!connected.isSuccess()) {
      group.shutdownGracefully(0, LIMIT_SECONDS, TimeUnit.SECONDS);
      throw Peer.cannotConnect(server, connected.cause());
    }
    channel = connected.channel();
    // Past the frames: what the server is to do on this connection.
    channel.pipeline().firstContext().writeAndFlush(Unpooled.wrappedBuffer(NettyServer.echoes()));
  }

  private final class Answers extends SimpleChannelInboundHandler<String> {
    @Override
    protected void channelRead0(ChannelHandlerContext ctx, String answer) {
      answers.add(answer);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      fail(new EOFException("the server has ended it"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      fail(cause);
      ctx.close();
    }

    private void fail(Throwable cause) {
      if (failure == null && !closing) {
        failure = cause;
        owner.interrupt();
      }
    }
  }

  @Override
  public String ask(String line) throws HarnessException, InterruptedException {
    channel.writeAndFlush(Unpooled.copiedBuffer(line, StandardCharsets.UTF_8));
    String answer = answers.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
    if (answer == null) {
      throw new HarnessException(server + " did not answer within " + LIMIT_SECONDS + " s");
    }
    return answer;
  }

  @Override
  public HarnessException lost() {
    Throwable cause = failure;
    return cause == null ? null : Peer.lost(server, "", cause);
  }

  @Override
  public void close() {
    closing = true;
    group.shutdownGracefully(0, LIMIT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
