// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;

/** Records as {@link KvsProtocol} lays them out. Any thread may use it. */
final class RowMarshaller implements Marshaller<Row> {
  private static final int KEY = 1;
  private static final int FIELD = 2;
  private static final int NAME = 1;
  private static final int VALUE = 2;

  @Override
  public InputStream stream(Row row) {
    return Wire.write(size(row), out -> write(row, out));
  }

  private static int size(Row row) {
    int size = CodedOutputStream.computeStringSize(KEY, row.key());
    for (Map.Entry<String, ByteString> field : row.fields().entrySet()) {
      size += CodedOutputStream.computeTagSize(FIELD);
      int length = fieldSize(field);
      size += CodedOutputStream.computeUInt32SizeNoTag(length) + length;
    }
    return size;
  }

  private static int fieldSize(Map.Entry<String, ByteString> field) {
    return CodedOutputStream.computeStringSize(NAME, field.getKey())
        + CodedOutputStream.computeBytesSize(VALUE, field.getValue());
  }

  private static void write(Row row, CodedOutputStream out) throws IOException {
    out.writeString(KEY, row.key());
    for (Map.Entry<String, ByteString> field : row.fields().entrySet()) {
      out.writeTag(FIELD, Wire.LENGTH_DELIMITED);
      out.writeUInt32NoTag(fieldSize(field));
      out.writeString(NAME, field.getKey());
      out.writeBytes(VALUE, field.getValue());
    }
  }

  @Override
  public Row parse(InputStream stream) {
    return Wire.read(stream, RowMarshaller::read);
  }

  private static Row read(CodedInputStream in) throws IOException {
    String key = "";
    LinkedHashMap<String, ByteString> fields = new LinkedHashMap<>();
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (Wire.number(tag)) {
        case KEY -> key = in.readStringRequireUtf8();
        case FIELD -> readField(in, fields);
        default -> in.skipField(tag);
      }
    }
    return new Row(key, fields);
  }

  private static void readField(CodedInputStream in, Map<String, ByteString> fields)
      throws IOException {
    int outer = in.pushLimit(in.readUInt32());
    String name = "";
    ByteString value = ByteString.EMPTY;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (Wire.number(tag)) {
        case NAME -> name = in.readStringRequireUtf8();
        case VALUE -> value = in.readBytes();
        default -> in.skipField(tag);
      }
    }
    in.popLimit(outer);
    fields.put(name, value);
  }
}
