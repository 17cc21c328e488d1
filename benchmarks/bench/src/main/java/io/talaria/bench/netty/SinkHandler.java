// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Counts what it receives: eight bytes that say how many follow, then those; then it answers with
 * one byte and begins anew.
 */
final class SinkHandler extends ChannelInboundHandlerAdapter {
  private long header;
  private int headerBytes;
  private long remaining;

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    try {
      while (remaining == 0 && bytes.isReadable()) {
        header = header << Byte.SIZE | bytes.readUnsignedByte();
        if (++headerBytes == Long.BYTES) {
          remaining = header;
          headerBytes = 0;
          header = 0;
        }
      }
      // Not while it waits for a count: a client's first byte may come alone, with nothing behind
      // it.
      boolean counting = remaining > 0;
      remaining -= bytes.readableBytes();
      if (counting && remaining == 0) {
        ctx.writeAndFlush(ctx.alloc().directBuffer(1).writeByte(1), ctx.voidPromise());
      }
    } finally {
      bytes.release();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }
}
