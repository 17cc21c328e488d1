// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Queries as {@link KvsProtocol} lays them out. Any thread may use it. */
final class QueryMarshaller implements Marshaller<Query> {
  private static final int KEY = 1;
  private static final int NAME = 2;
  private static final int LIMIT = 3;

  @Override
  public InputStream stream(Query query) {
    return Wire.write(size(query), out -> write(query, out));
  }

  private static int size(Query query) {
    int size = CodedOutputStream.computeStringSize(KEY, query.key());
    for (String name : query.names()) {
      size += CodedOutputStream.computeStringSize(NAME, name);
    }
    return size + CodedOutputStream.computeUInt32Size(LIMIT, query.limit());
  }

  private static void write(Query query, CodedOutputStream out) throws IOException {
    out.writeString(KEY, query.key());
    for (String name : query.names()) {
      out.writeString(NAME, name);
    }
    out.writeUInt32(LIMIT, query.limit());
  }

  @Override
  public Query parse(InputStream stream) {
    return Wire.read(stream, QueryMarshaller::read);
  }

  private static Query read(CodedInputStream in) throws IOException {
    String key = "";
    List<String> names = new ArrayList<>();
    int limit = 0;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (Wire.number(tag)) {
        case KEY -> key = in.readStringRequireUtf8();
        case NAME -> names.add(in.readStringRequireUtf8());
        case LIMIT -> limit = in.readUInt32();
        default -> in.skipField(tag);
      }
    }
    return new Query(key, names, limit);
  }
}
