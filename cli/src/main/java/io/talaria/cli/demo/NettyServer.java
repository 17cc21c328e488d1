// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.demo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/** Two services on one event loop: one echoes, the other counts. Closed by whoever opened it. */
final class NettyServer implements AutoCloseable {
  private static final int BACKLOG = 256;

  private final EventLoopGroup group = new NioEventLoopGroup(1);
  private final Channel echo;
  private final Channel sink;

  NettyServer() throws InterruptedException {
    EchoHandler echoHandler = new EchoHandler();
    echo = bind(() -> echoHandler);
    sink = bind(SinkHandler::new);
  }

  private Channel bind(Supplier<ChannelHandler> handler) throws InterruptedException {
    return new ServerBootstrap()
        .group(group)
        .channel(NioServerSocketChannel.class)
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(handler.get());
              }
            })
        .bind(InetAddress.getLoopbackAddress(), 0)
        .sync()
        .channel();
  }

  DemoJob.Ports ports() {
    return new DemoJob.Ports(port(echo), port(sink));
  }

  private static int port(Channel channel) {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  @Override
  public void close() {
    group.shutdownGracefully();
  }
}
