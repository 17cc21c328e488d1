// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.EOFException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A channel of Netty. The patterns run on its event loop, as Netty's programs do; the calling
 * thread waits. Fields are confined to the event loop once a pattern has begun.
 */
final class NettyLink implements Link {
  private static final int FLUSH_EVERY = 64;

  private final Channel channel;
  private ByteBuf message = Unpooled.EMPTY_BUFFER;
  private int sizeBytes;
  private long unsent;
  private long missing;
  private long bytes;
  private Runnable onMessage = () -> {};
  private CompletableFuture<Void> sent = new CompletableFuture<>();
  private CompletableFuture<Void> received = new CompletableFuture<>();

  NettyLink(Channel channel) {
    this.channel = channel;
  }

  ChannelHandler handler() {
    return new Handler();
  }

  private final class Handler extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object data) {
      ByteBuf buffer = (ByteBuf) data;
      bytes += buffer.readableBytes();
      buffer.release();
      while (bytes >= sizeBytes && missing > 0) {
        bytes -= sizeBytes;
        missing--;
        onMessage.run();
        if (missing == 0) {
          channel.config().setAutoRead(false);
          received.complete(null);
        }
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      pour();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      fail(new EOFException("the peer ended the connection"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      fail(cause);
      context.close();
    }
  }

  private void fail(Throwable cause) {
    sent.completeExceptionally(cause);
    received.completeExceptionally(cause);
  }

  @Override
  public void prepare(int size) {
    channel
        .eventLoop()
        .submit(
            () -> {
              message.release();
              message = channel.alloc().directBuffer(size).writeZero(size);
              sizeBytes = size;
            })
        .syncUninterruptibly();
  }

  /** Writes messages while there is room; the last flush completes the future. */
  private void pour() {
    while (unsent > 0 && channel.isWritable()) {
      long now = Math.min(unsent, FLUSH_EVERY);
      for (long i = 1; i < now; i++) {
        channel.write(message.retainedDuplicate(), channel.voidPromise());
      }
      unsent -= now;
      if (unsent > 0) {
        channel.writeAndFlush(message.retainedDuplicate(), channel.voidPromise());
      } else {
        CompletableFuture<Void> whenSent = sent;
        channel
            .writeAndFlush(message.retainedDuplicate())
            .addListener(
                done -> {
                  if (done.isSuccess()) {
                    whenSent.complete(null);
                  } else {
                    whenSent.completeExceptionally(done.cause());
                  }
                });
      }
    }
  }

  private void write() {
    channel.writeAndFlush(message.retainedDuplicate(), channel.voidPromise());
  }

  private void expect(long messages, Runnable each) {
    onMessage = each;
    missing = messages;
    received = new CompletableFuture<>();
    if (channel.isActive()) {
      channel.config().setAutoRead(true);
    } else {
      fail(new EOFException("the peer has ended the connection"));
    }
  }

  private void startSending(long messages) {
    sent = new CompletableFuture<>();
    unsent = messages;
    pour();
  }

  /** Runs the beginning of a pattern on the event loop, then waits for its end. */
  private void run(Runnable beginning, boolean sends, boolean receives) throws IOException {
    try {
      channel.eventLoop().submit(beginning).get();
      if (sends) {
        sent.get();
      }
      if (receives) {
        received.get();
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().toString(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void send() throws IOException {
    sendAll(1);
  }

  @Override
  public void receive() throws IOException {
    receiveAll(1);
  }

  @Override
  public void sendAll(long messages) throws IOException {
    run(() -> startSending(messages), true, false);
  }

  @Override
  public void receiveAll(long messages) throws IOException {
    run(() -> expect(messages, () -> {}), false, true);
  }

  @Override
  public void both(long messages) throws IOException {
    run(
        () -> {
          expect(messages, () -> {});
          startSending(messages);
        },
        true,
        true);
  }

  @Override
  public void pingPong(long messages, Laps laps) throws IOException {
    run(
        () -> {
          expect(
              messages,
              () -> {
                laps.end();
                if (missing > 0) {
                  laps.begin();
                  write();
                }
              });
          laps.begin();
          write();
        },
        false,
        true);
  }

  @Override
  public void echo(long messages) throws IOException {
    run(() -> expect(messages, this::write), false, true);
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
  }
}
