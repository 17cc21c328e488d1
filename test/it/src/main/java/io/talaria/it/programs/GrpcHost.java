// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.ServerServiceDefinition;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.talaria.it.kit.Blob;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Keys;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * A gRPC server with the methods of {@link GrpcTalk}, on one port in the clear and on another with
 * TLS. Says {@code @cancelled} when a client has cancelled a flood.
 */
public final class GrpcHost {
  private GrpcHost() {}

  /**
   * Runs the program.
   *
   * @param arguments keys=... a key store; port, tls: the ports, 0 for any
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Keys keys = Keys.load(Path.of(args.text("keys", "")));
          Server clear = serve(args.count("port", 0), InsecureServerCredentials.create());
          Server tls =
              serve(
                  args.count("tls", 0),
                  TlsServerCredentials.newBuilder().keyManager(keys.own()).build());
          Console.say("listening", "port", clear.getPort(), "tls", tls.getPort());
          Console.awaitEnd();
        });
  }

  private static Server serve(int port, ServerCredentials credentials) throws IOException {
    return NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port), credentials)
        .addService(
            ServerServiceDefinition.builder(GrpcTalk.SERVICE)
                .addMethod(GrpcTalk.ECHO, ServerCalls.asyncUnaryCall(GrpcHost::echo))
                .addMethod(GrpcTalk.SUM, ServerCalls.asyncClientStreamingCall(Sum::new))
                .addMethod(GrpcTalk.FLOOD, ServerCalls.asyncServerStreamingCall(GrpcHost::flood))
                .addMethod(GrpcTalk.CHAT, ServerCalls.asyncBidiStreamingCall(GrpcHost::chat))
                .addMethod(GrpcTalk.SILENCE, ServerCalls.asyncUnaryCall((message, answers) -> {}))
                .build())
        .build()
        .start();
  }

  private static void echo(byte[] message, StreamObserver<byte[]> answers) {
    Blob.check(message);
    answers.onNext(message);
    answers.onCompleted();
  }

  private static void flood(byte[] order, StreamObserver<byte[]> answers) {
    ByteBuffer numbers = ByteBuffer.wrap(order);
    long count = numbers.getLong();
    int lengthBytes = Math.toIntExact(numbers.getLong());
    ServerCallStreamObserver<byte[]> call = (ServerCallStreamObserver<byte[]>) answers;
    call.setOnCancelHandler(() -> Console.say("cancelled"));
    call.setOnReadyHandler(new Flood(call, count, lengthBytes));
  }

  private static StreamObserver<byte[]> chat(StreamObserver<byte[]> answers) {
    ServerCallStreamObserver<byte[]> call = (ServerCallStreamObserver<byte[]>) answers;
    call.disableAutoRequest();
    Chat chat = new Chat(call);
    call.setOnReadyHandler(chat::goOn);
    return chat;
  }

  /** Writes while there is room; gRPC calls it again when there is. */
  private static final class Flood implements Runnable {
    private final ServerCallStreamObserver<byte[]> call;
    private final long count;
    private final int lengthBytes;
    private long sent;

    Flood(ServerCallStreamObserver<byte[]> call, long count, int lengthBytes) {
      this.call = call;
      this.count = count;
      this.lengthBytes = lengthBytes;
    }

    @Override
    public void run() {
      while (sent < count && call.isReady()) {
        call.onNext(Blob.make(sent++, lengthBytes));
        if (sent == count) {
          call.onCompleted();
        }
      }
    }
  }

  private static final class Sum implements StreamObserver<byte[]> {
    private final StreamObserver<byte[]> answers;
    private final CRC32C crc = new CRC32C();
    private long count;
    private long bytes;

    Sum(StreamObserver<byte[]> answers) {
      this.answers = answers;
    }

    @Override
    public void onNext(byte[] message) {
      Blob.check(message, count, message.length);
      count++;
      bytes += message.length;
      crc.update(message);
    }

    @Override
    public void onError(Throwable failure) {
      // The client is gone, so the sum is not needed.
    }

    @Override
    public void onCompleted() {
      ByteBuffer sum = ByteBuffer.allocate(3 * Long.BYTES);
      answers.onNext(sum.putLong(count).putLong(bytes).putLong(crc.getValue()).array());
      answers.onCompleted();
    }
  }

  private static final class Chat implements StreamObserver<byte[]> {
    private final ServerCallStreamObserver<byte[]> call;
    private boolean asked;

    Chat(ServerCallStreamObserver<byte[]> call) {
      this.call = call;
    }

    void goOn() {
      if (!asked && call.isReady()) {
        asked = true;
        call.request(1);
      }
    }

    @Override
    public void onNext(byte[] message) {
      asked = false;
      Blob.check(message);
      call.onNext(message);
      goOn();
    }

    @Override
    public void onError(Throwable failure) {
      // The client is gone.
    }

    @Override
    public void onCompleted() {
      call.onCompleted();
    }
  }
}
