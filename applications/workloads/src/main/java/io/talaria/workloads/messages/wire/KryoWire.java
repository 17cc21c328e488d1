// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.MessageToByteEncoder;
import io.talaria.bench.compare.Service;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.messages.objects.Block;
import io.talaria.workloads.messages.objects.Eight;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.objects.Tally;
import io.talaria.workloads.messages.objects.Two;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.agrona.concurrent.IdleStrategy;

/** Objects by Netty and Kryo: a length, then what Kryo writes, registration required. */
public final class KryoWire implements Wire {
  private static final int MAX_BYTES = Sizes.MAX_BYTES + (1 << 10);
  private static final int BATCH = 64;

  /** Larger objects are flushed when they are so much. */
  private static final int BATCH_BYTES = 64 << 10;

  /** What waits for the event loop, at most; what is behind it, the channel bounds. */
  private static final int MAX_WAITING_BYTES = 8 << 20;

  /** The request for what has come so far. */
  record HowMany(int unused) {}

  /** Something that is to come back. */
  record Request(Object message) {}

  private final EventLoopGroup loop = new NioEventLoopGroup(1);
  private final Channel channel;
  private final Awaited response = new Awaited();
  private final int batchCount;
  private final int maxWaiting;
  private final AtomicInteger waiting = new AtomicInteger();

  KryoWire(MessagesJob job, HostPort where) throws InterruptedException {
    batchCount = Math.clamp(BATCH_BYTES / job.sizeBytes(), 1, BATCH);
    maxWaiting = Math.max(2, MAX_WAITING_BYTES / (batchCount * job.sizeBytes()));
    channel =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(pipeline(channelOf -> response::bring))
            .connect(new InetSocketAddress(where.host(), where.port()))
            .sync()
            .channel();
  }

  /** Who takes the objects of a connection. */
  private interface Takers {
    Consumer<Object> of(Channel channel);
  }

  static Service serve() throws InterruptedException {
    EventLoopGroup loop = new NioEventLoopGroup(1);
    Channel listener =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(pipeline(KryoWire::server))
            .bind(new InetSocketAddress("127.0.0.1", 0))
            .sync()
            .channel();
    int port = ((InetSocketAddress) listener.localAddress()).getPort();
    return Service.of(port, loop::shutdownGracefully);
  }

  private static Consumer<Object> server(Channel channel) {
    Tally.Adder adder = new Tally.Adder();
    return message -> {
      if (message instanceof HowMany) {
        channel.writeAndFlush(adder.tally());
      } else if (message instanceof Request request) {
        channel.writeAndFlush(request.message());
      } else {
        adder.take(message);
      }
    };
  }

  private static Kryo kryo() {
    Kryo kryo = new Kryo();
    kryo.setRegistrationRequired(true);
    kryo.setReferences(false);
    for (Class<?> each :
        new Class<?>[] {
          Two.class,
          Eight.class,
          Tally.class,
          HowMany.class,
          Request.class,
          Block.class,
          byte[].class
        }) {
      kryo.register(each);
    }
    return kryo;
  }

  private static ChannelInitializer<SocketChannel> pipeline(Takers takers) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel made) {
        made.pipeline()
            .addLast(new LengthFieldBasedFrameDecoder(MAX_BYTES, 0, 4, 0, 4))
            .addLast(new Encoder())
            .addLast(new Taker(takers.of(made)));
      }
    };
  }

  private static final class Encoder extends MessageToByteEncoder<Object> {
    private final Kryo kryo = kryo();
    private final Output output = new Output(MAX_BYTES);

    @Override
    protected void encode(ChannelHandlerContext context, Object message, ByteBuf out) {
      output.reset();
      kryo.writeClassAndObject(output, message);
      out.writeInt(output.position());
      out.writeBytes(output.getBuffer(), 0, output.position());
    }
  }

  private static final class Taker extends SimpleChannelInboundHandler<ByteBuf> {
    private final Kryo kryo = kryo();
    private final Input input = new Input();
    private final byte[] bytes = new byte[MAX_BYTES];
    private final Consumer<Object> consumer;

    Taker(Consumer<Object> consumer) {
      this.consumer = consumer;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      int length = frame.readableBytes();
      frame.readBytes(bytes, 0, length);
      input.setBuffer(bytes, 0, length);
      consumer.accept(kryo.readClassAndObject(input));
    }
  }

  @Override
  public ObjectSender sender(IdleStrategy full) {
    return new Batches(full);
  }

  /** The objects of one thread, until they are enough to be flushed. */
  private final class Batches implements ObjectSender {
    private final IdleStrategy full;
    private Object[] batch = new Object[batchCount];
    private int count;

    Batches(IdleStrategy full) {
      this.full = full;
    }

    @Override
    public void send(Object message) {
      batch[count++] = message;
      if (count == batchCount) {
        flush();
      }
    }

    @Override
    public void flush() {
      while ((!channel.isWritable() || waiting.get() >= maxWaiting) && channel.isActive()) {
        full.idle();
      }
      Object[] objects = batch;
      int length = count;
      batch = new Object[batchCount];
      count = 0;
      waiting.incrementAndGet();
      channel
          .eventLoop()
          .execute(
              () -> {
                waiting.decrementAndGet();
                for (int i = 0; i < length; i++) {
                  channel.write(objects[i]);
                }
                channel.flush();
              });
    }
  }

  @Override
  public Tally tally() throws Exception {
    channel.writeAndFlush(new HowMany(0));
    return (Tally) response.take();
  }

  @Override
  public Object request(Object message) throws Exception {
    channel.writeAndFlush(new Request(message));
    return response.take();
  }

  @Override
  public void close() {
    loop.shutdownGracefully();
  }
}
