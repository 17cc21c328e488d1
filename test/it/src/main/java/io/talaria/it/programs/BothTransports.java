// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler.Sharable;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.talaria.it.kit.Console;
import java.net.InetSocketAddress;

/**
 * Two echo servers of one process on the Netty inside gRPC, one on NIO and one on its native epoll.
 * Says {@code @listening port=... epoll=...}; the latter is 0 where Netty says that there is none.
 */
public final class BothTransports {
  private BothTransports() {}

  /**
   * Runs the program.
   *
   * @param arguments {@code epoll=named} to use epoll without asking whether it is there
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          int nio = listen(NioIoHandler.newFactory(), NioServerSocketChannel.class);
          int epoll =
              args.is("epoll", "named", "asked") || Epoll.isAvailable()
                  ? listen(EpollIoHandler.newFactory(), EpollServerSocketChannel.class)
                  : 0;
          Console.say("listening", "port", nio, "epoll", epoll);
          Console.awaitEnd();
        });
  }

  private static int listen(IoHandlerFactory loops, Class<? extends ServerChannel> kind)
      throws InterruptedException {
    return ((InetSocketAddress)
            new ServerBootstrap()
                .group(new MultiThreadIoEventLoopGroup(1, loops))
                .channel(kind)
                .childHandler(new Echo())
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel()
                .localAddress())
        .getPort();
  }

  @Sharable
  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.writeAndFlush(message);
    }
  }
}
