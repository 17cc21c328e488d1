// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.talaria.it.kit.Console;
import java.net.InetSocketAddress;

/**
 * An echo server on Netty that stops reading while its answers pile up, and answers the peer's
 * half-close with its own when everything is echoed.
 */
public final class NettyEcho {
  private NettyEcho() {}

  /**
   * Runs the program.
   *
   * @param arguments loops (event loops)
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          NioEventLoopGroup group = new NioEventLoopGroup(args.count("loops", 1));
          Channel channel =
              new ServerBootstrap()
                  .group(group)
                  .channel(NioServerSocketChannel.class)
                  .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                  .childOption(
                      ChannelOption.WRITE_BUFFER_WATER_MARK,
                      new WriteBufferWaterMark(16 << 10, 64 << 10))
                  .childHandler(
                      new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel accepted) {
                          accepted.pipeline().addLast(new Echo());
                        }
                      })
                  .bind(new InetSocketAddress("127.0.0.1", 0))
                  .sync()
                  .channel();
          Console.say("listening", "port", ((InetSocketAddress) channel.localAddress()).getPort());
          Console.awaitEnd();
        });
  }

  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.write(message).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
      if (!context.channel().isWritable()) {
        context.channel().config().setAutoRead(false);
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      if (context.channel().isWritable()) {
        context.channel().config().setAutoRead(true);
      } else {
        context.flush();
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof ChannelInputShutdownEvent) {
        context
            .writeAndFlush(context.alloc().buffer(0))
            .addListener(future -> ((DuplexChannel) context.channel()).shutdownOutput());
      }
      ReferenceCountUtil.release(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      Console.fail(cause);
    }
  }
}
