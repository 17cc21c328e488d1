// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.talaria.it.kit.Blob;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Keys;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

/**
 * Uses a {@link GrpcHost} in all the ways that gRPC offers, on one connection in the clear and on
 * another with TLS: unary calls, streams each way and both ways, messages of 4 MiB, cancellation.
 * Then it stays in calls while the test kills the server, and continues with the next one.
 */
public final class GrpcUser {
  private static final int LARGE = 4 << 20;

  private final ManagedChannel channel;

  private GrpcUser(int port, ChannelCredentials credentials) {
    channel = NettyChannelBuilder.forAddress("127.0.0.1", port, credentials).build();
  }

  /**
   * Runs the program.
   *
   * @param arguments keys=... a key store; port, tls: the server's ports
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Keys keys = Keys.load(Path.of(args.text("keys", "")));
          ChannelCredentials tls =
              TlsChannelCredentials.newBuilder().trustManager(keys.trusted()).build();
          List<GrpcUser> users =
              List.of(
                  new GrpcUser(args.count("port", 0), InsecureChannelCredentials.create()),
                  new GrpcUser(args.count("tls", 0), tls));
          for (GrpcUser user : users) {
            user.callOneByOne();
            user.callAllAtOnce();
            user.sendStream();
            user.receiveStream();
            user.chat();
            user.cancel();
            Console.say("done", "authority", user.channel.authority());
          }
          Console.say("used");
          Console.awaitCommand("stay");
          stay(users);
          Console.awaitCommand("again");
          for (GrpcUser user : users) {
            user.callOneByOne();
          }
          Console.say("back");
          Console.awaitEnd();
        });
  }

  private ClientCall<byte[], byte[]> call(MethodDescriptor<byte[], byte[]> method) {
    CallOptions options =
        CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(90, TimeUnit.SECONDS);
    return channel.newCall(method, options);
  }

  private void callOneByOne() {
    for (int i = 0; i < 100; i++) {
      callOnce(i, i == 50 ? LARGE : 16 + 13 * i);
    }
  }

  private void callOnce(long seed, int lengthBytes) {
    byte[] answer =
        ClientCalls.blockingUnaryCall(call(GrpcTalk.ECHO), Blob.make(seed, lengthBytes));
    Blob.check(answer, seed, lengthBytes);
  }

  private void callAllAtOnce() throws Exception {
    List<Future<byte[]>> answers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      answers.add(ClientCalls.futureUnaryCall(call(GrpcTalk.ECHO), Blob.make(i, togetherBytes(i))));
    }
    for (int i = 0; i < answers.size(); i++) {
      Blob.check(answers.get(i).get(), i, togetherBytes(i));
    }
  }

  private static int togetherBytes(int i) {
    return i % 50 == 25 ? LARGE : 16 << 10;
  }

  private void sendStream() throws Exception {
    int count = 300;
    CRC32C crc = new CRC32C();
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      byte[] message = streamed(i);
      crc.update(message);
      bytes += message.length;
    }
    try (GrpcCall call = new GrpcCall(call(GrpcTalk.SUM))) {
      for (int i = 0; i < count; i++) {
        call.send(streamed(i));
      }
      call.finish();
      ByteBuffer sum = ByteBuffer.wrap(call.receive());
      boolean right =
          sum.getLong() == count && sum.getLong() == bytes && sum.getLong() == crc.getValue();
      check(right, "the sum of a stream is wrong");
      call.awaitEnd(Status.Code.OK);
    }
  }

  private static byte[] streamed(int i) {
    return Blob.make(i, i % 100 == 50 ? LARGE : 16 + 37 * i);
  }

  private void receiveStream() throws Exception {
    flood(3, LARGE);
    flood(1000, 1 << 10);
  }

  private void flood(int count, int lengthBytes) throws Exception {
    try (GrpcCall call = new GrpcCall(call(GrpcTalk.FLOOD))) {
      order(call, count, lengthBytes);
      for (int i = 0; i < count; i++) {
        Blob.check(call.receive(), i, lengthBytes);
      }
      call.awaitEnd(Status.Code.OK);
    }
  }

  private static void order(GrpcCall call, long count, long lengthBytes) {
    call.ask(ByteBuffer.allocate(2 * Long.BYTES).putLong(count).putLong(lengthBytes).array());
  }

  /** Several calls at once on the same connection, each with many messages under way. */
  private void chat() throws Exception {
    List<GrpcCall> calls = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      calls.add(new GrpcCall(call(GrpcTalk.CHAT)));
    }
    int under = 16;
    int count = 100;
    for (int i = 0; i < count + under; i++) {
      for (int at = 0; at < calls.size(); at++) {
        if (i < count) {
          calls.get(at).send(Blob.make(i, 16 + 46 * i * at));
        }
        if (i >= under) {
          Blob.check(calls.get(at).receive(), i - under, 16 + 46 * (i - under) * at);
        }
      }
    }
    for (GrpcCall call : calls) {
      call.finish();
      call.awaitEnd(Status.Code.OK);
    }
  }

  private void cancel() throws Exception {
    GrpcCall call = new GrpcCall(call(GrpcTalk.FLOOD));
    order(call, Long.MAX_VALUE, 8 << 10);
    for (int i = 0; i < 50; i++) {
      Blob.check(call.receive(), i, 8 << 10);
    }
    call.close();
    call.awaitEnd(Status.Code.CANCELLED);
    callOnce(7, 1000);
  }

  /** Is in calls of two kinds on each connection until the server dies. */
  private static void stay(List<GrpcUser> users) throws Exception {
    List<GrpcCall> silent = new ArrayList<>();
    List<GrpcCall> loud = new ArrayList<>();
    for (GrpcUser user : users) {
      GrpcCall call = new GrpcCall(user.call(GrpcTalk.SILENCE));
      call.ask(Blob.make(1, 1000));
      silent.add(call);
      GrpcCall flood = new GrpcCall(user.call(GrpcTalk.FLOOD));
      order(flood, Long.MAX_VALUE, 32 << 10);
      Blob.check(flood.receive(), 0, 32 << 10);
      loud.add(flood);
    }
    Console.say("staying");
    for (GrpcCall flood : loud) {
      long i = 1;
      for (byte[] next = flood.receiveOrEnd(); next != null; next = flood.receiveOrEnd()) {
        Blob.check(next, i++, 32 << 10);
      }
      flood.awaitEnd(Status.Code.UNAVAILABLE);
    }
    for (GrpcCall call : silent) {
      call.awaitEnd(Status.Code.UNAVAILABLE);
    }
    Console.say("unavailable");
  }

  private static void check(boolean right, String complaint) {
    if (!right) {
      throw new IllegalStateException(complaint);
    }
  }
}
