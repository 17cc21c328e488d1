// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Makes room for the handler that a connection's first byte asks for. */
final class FirstByteHandler extends ChannelInboundHandlerAdapter {
  /** Asks for an {@link EchoHandler}. */
  static final byte ECHO = 'E';

  /** Asks for a {@link SinkHandler}. */
  static final byte SINK = 'S';

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    ChannelHandler next =
        switch (bytes.readByte()) {
          case ECHO -> new EchoHandler();
          case SINK -> new SinkHandler();
          default -> null;
        };
    if (next == null) {
      bytes.release();
      ctx.close();
      return;
    }
    ctx.pipeline().replace(this, null, next);
    ctx.fireChannelRead(bytes); // what follows the byte, if only nothing
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }
}
