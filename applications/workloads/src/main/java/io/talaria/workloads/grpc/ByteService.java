// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** A service that answers bytes with themselves. */
public final class ByteService {
  private static final String NAME = "talaria.Bytes";

  /** One message, one answer. */
  public static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo", MethodType.UNARY);

  /** An answer for each message, on one stream. */
  public static final MethodDescriptor<byte[], byte[]> ECHO_STREAM =
      method("EchoStream", MethodType.BIDI_STREAMING);

  private ByteService() {}

  private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, name))
        .setRequestMarshaller(new Bytes())
        .setResponseMarshaller(new Bytes())
        .build();
  }

  /** Returns what a server serves. */
  static ServerServiceDefinition definition() {
    return ServerServiceDefinition.builder(NAME)
        .addMethod(ECHO, ServerCalls.asyncUnaryCall(ByteService::echo))
        .addMethod(ECHO_STREAM, ServerCalls.asyncBidiStreamingCall(Echoing::new))
        .build();
  }

  private static void echo(byte[] message, StreamObserver<byte[]> answer) {
    answer.onNext(message);
    answer.onCompleted();
  }

  private record Echoing(StreamObserver<byte[]> answers) implements StreamObserver<byte[]> {
    @Override
    public void onNext(byte[] message) {
      answers.onNext(message);
    }

    @Override
    public void onError(Throwable failure) {
      // The client has gone, so no answer is needed.
    }

    @Override
    public void onCompleted() {
      answers.onCompleted();
    }
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
