// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** What both marshallers need of protobuf's coding. */
final class Wire {
  static final int LENGTH_DELIMITED = WireFormat.WIRETYPE_LENGTH_DELIMITED;

  private Wire() {}

  /** Writes one message. */
  @FunctionalInterface
  interface Writer {
    void write(CodedOutputStream out) throws IOException;
  }

  /** Reads one message, to the end of the stream. */
  @FunctionalInterface
  interface Reader<T> {
    T read(CodedInputStream in) throws IOException;
  }

  /** Returns a message of exactly this size as a stream. */
  static InputStream write(int sizeBytes, Writer writer) {
    byte[] bytes = new byte[sizeBytes];
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      writer.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    out.checkNoSpaceLeft();
    return new ByteArrayInputStream(bytes);
  }

  static <T> T read(InputStream stream, Reader<T> reader) {
    try {
      return reader.read(CodedInputStream.newInstance(stream));
    } catch (IOException e) {
      throw Status.INVALID_ARGUMENT
          .withDescription("no message of the key-value store: " + e.getMessage())
          .withCause(e)
          .asRuntimeException();
    }
  }

  /** Returns the number of the field that a tag begins. */
  static int number(int tag) {
    return WireFormat.getTagFieldNumber(tag);
  }
}
