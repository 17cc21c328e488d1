// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The methods that {@link GrpcHost} serves; all messages are bytes. */
final class GrpcTalk {
  static final String SERVICE = "talaria.Talk";

  /** Answers with the message itself. */
  static final MethodDescriptor<byte[], byte[]> ECHO =
      method("Echo", MethodDescriptor.MethodType.UNARY);

  /** Answers with count, bytes and CRC-32C of all messages: three longs. */
  static final MethodDescriptor<byte[], byte[]> SUM =
      method("Sum", MethodDescriptor.MethodType.CLIENT_STREAMING);

  /** Told a count and a length (two longs), answers with so many such messages, seeds 0, 1, .... */
  static final MethodDescriptor<byte[], byte[]> FLOOD =
      method("Flood", MethodDescriptor.MethodType.SERVER_STREAMING);

  /** Answers each message with itself, and takes no more while its answers pile up. */
  static final MethodDescriptor<byte[], byte[]> CHAT =
      method("Chat", MethodDescriptor.MethodType.BIDI_STREAMING);

  /** Never answers. */
  static final MethodDescriptor<byte[], byte[]> SILENCE =
      method("Silence", MethodDescriptor.MethodType.UNARY);

  private GrpcTalk() {}

  private static MethodDescriptor<byte[], byte[]> method(
      String name, MethodDescriptor.MethodType type) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .setRequestMarshaller(new Bytes())
        .setResponseMarshaller(new Bytes())
        .build();
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
