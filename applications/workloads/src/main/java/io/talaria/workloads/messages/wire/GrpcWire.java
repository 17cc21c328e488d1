// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.grpc.CallOptions;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.talaria.bench.compare.Service;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.messages.objects.Tally;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/** Objects by gRPC: unary calls for round trips, one stream for one way; codec by hand. */
public final class GrpcWire implements Wire {
  private static final String NAME = "talaria.Messages";
  private static final int LIMIT_SECONDS = 30;
  private static final MethodDescriptor<Object, Object> REQUEST =
      method("Request", MethodType.UNARY);
  private static final MethodDescriptor<Object, Object> POUR =
      method("Pour", MethodType.BIDI_STREAMING);

  private final EventLoopGroup loop = new NioEventLoopGroup(1);
  private final ManagedChannel channel;
  private final ClientCallStreamObserver<Object> stream;
  private final Awaited tally = new Awaited();

  GrpcWire(HostPort where) {
    channel =
        NettyChannelBuilder.forAddress(
                new InetSocketAddress(where.host(), where.port()),
                InsecureChannelCredentials.create())
            .eventLoopGroup(loop)
            .channelType(NioSocketChannel.class)
            .directExecutor() // what is called back never waits
            .build();
    stream =
        (ClientCallStreamObserver<Object>)
            ClientCalls.asyncBidiStreamingCall(
                channel.newCall(POUR, CallOptions.DEFAULT), new Responses(tally));
  }

  private record Responses(Awaited to) implements StreamObserver<Object> {
    @Override
    public void onNext(Object response) {
      to.bring(response);
    }

    @Override
    public void onError(Throwable failure) {
      to.bring(failure);
    }

    @Override
    public void onCompleted() {
      // The server ends no stream.
    }
  }

  private static MethodDescriptor<Object, Object> method(String name, MethodType type) {
    return MethodDescriptor.<Object, Object>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, name))
        .setRequestMarshaller(new ByHand())
        .setResponseMarshaller(new ByHand())
        .build();
  }

  private static final class ByHand implements MethodDescriptor.Marshaller<Object> {
    @Override
    public InputStream stream(Object message) {
      byte[] bytes = new byte[Handmade.size(message)];
      Handmade.write(new UnsafeBuffer(bytes), 0, Handmade.PLAIN, message);
      return new ByteArrayInputStream(bytes);
    }

    @Override
    public Object parse(InputStream from) {
      try {
        return Handmade.read(new UnsafeBuffer(from.readAllBytes()), 0);
      } catch (IOException e) {
        throw new UncheckedIOException(e); // it was in memory
      }
    }
  }

  static Service serve() throws IOException {
    EventLoopGroup loop = new NioEventLoopGroup(1);
    Server server =
        NettyServerBuilder.forAddress(
                new InetSocketAddress("127.0.0.1", 0), InsecureServerCredentials.create())
            .bossEventLoopGroup(loop)
            .workerEventLoopGroup(loop)
            .channelType(NioServerSocketChannel.class)
            .directExecutor() // the service never waits
            .addService(
                ServerServiceDefinition.builder(NAME)
                    .addMethod(REQUEST, ServerCalls.asyncUnaryCall(GrpcWire::respond))
                    .addMethod(POUR, ServerCalls.asyncBidiStreamingCall(Adding::new))
                    .build())
            .build()
            .start();
    return Service.of(
        server.getPort(),
        () -> {
          server.shutdownNow();
          loop.shutdownGracefully();
        });
  }

  private static void respond(Object request, StreamObserver<Object> to) {
    to.onNext(request);
    to.onCompleted();
  }

  private static final class Adding implements StreamObserver<Object> {
    private final StreamObserver<Object> back;
    private final Tally.Adder adder = new Tally.Adder();

    Adding(StreamObserver<Object> back) {
      this.back = back;
    }

    @Override
    public void onNext(Object message) {
      if (message instanceof Handmade.HowMany) {
        back.onNext(adder.tally());
      } else {
        adder.take(message);
      }
    }

    @Override
    public void onError(Throwable failure) {
      // The client has ended.
    }

    @Override
    public void onCompleted() {
      back.onCompleted();
    }
  }

  @Override
  public ObjectSender sender(IdleStrategy full) {
    return message -> {
      while (!stream.isReady()) {
        full.idle();
      }
      stream.onNext(message);
    };
  }

  @Override
  public Tally tally() throws Exception {
    stream.onNext(new Handmade.HowMany());
    Object response = tally.take();
    if (response instanceof Tally got) {
      return got;
    }
    throw new IOException("the stream has ended", (Throwable) response);
  }

  @Override
  public Object request(Object message) {
    return ClientCalls.blockingUnaryCall(
        channel,
        REQUEST,
        CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS),
        message);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    loop.shutdownGracefully();
  }
}
