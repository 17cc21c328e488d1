// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.talaria.it.kit.Console;
import java.net.InetSocketAddress;

/** An HTTP server on Netty that answers each request with its own body and its path. */
public final class HttpHost {
  private HttpHost() {}

  /**
   * Runs the program.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          NioEventLoopGroup group = new NioEventLoopGroup(2);
          Channel channel =
              new ServerBootstrap()
                  .group(group)
                  .channel(NioServerSocketChannel.class)
                  .childHandler(new Setup())
                  .bind(new InetSocketAddress("127.0.0.1", 0))
                  .sync()
                  .channel();
          Console.say("listening", "port", ((InetSocketAddress) channel.localAddress()).getPort());
          Console.awaitEnd();
        });
  }

  private static final class Setup extends ChannelInitializer<SocketChannel> {
    @Override
    protected void initChannel(SocketChannel channel) {
      channel
          .pipeline()
          .addLast(new HttpServerCodec(), new HttpObjectAggregator(8 << 20), new Answer());
    }
  }

  private static final class Answer extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      FullHttpResponse response =
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.OK, request.content().retain());
      response.headers().set("x-path", request.uri());
      response.headers().set(HttpHeaderNames.CONTENT_LENGTH, request.content().readableBytes());
      boolean alive = HttpUtil.isKeepAlive(request);
      HttpUtil.setKeepAlive(response, alive);
      var written = context.writeAndFlush(response);
      if (!alive) {
        written.addListener(ChannelFutureListener.CLOSE);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      Console.fail(cause);
    }
  }
}
