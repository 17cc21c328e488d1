// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;

/** A server that echoes or counts, as each connection asks. The caller that opened it closes it. */
public final class NettyServer implements AutoCloseable {
  private static final int BACKLOG = 1024;

  private final EventLoopGroup group;
  private final Channel listener;

  /**
   * Starts to serve.
   *
   * @param where where to listen
   * @param eventLoops how many event loops share the connections
   * @throws IOException if it cannot listen there
   * @throws InterruptedException if interrupted
   */
  public NettyServer(InetSocketAddress where, int eventLoops)
      throws IOException, InterruptedException {
    group = new NioEventLoopGroup(eventLoops);
    try {
      listener = NettyClient.done(bootstrap().bind(where));
    } catch (IOException | InterruptedException | RuntimeException e) {
      group.shutdownGracefully();
      throw e;
    }
  }

  private ServerBootstrap bootstrap() {
    return new ServerBootstrap()
        .group(group)
        .channel(NioServerSocketChannel.class)
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new FirstByteHandler());
              }
            });
  }

  /** Returns what a client of its own making begins with, for echoes of whatever follows. */
  public static byte[] echoes() {
    return new byte[] {FirstByteHandler.ECHO};
  }

  /** Returns the port it listens on. */
  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  @Override
  public void close() {
    group.shutdownGracefully();
  }
}
