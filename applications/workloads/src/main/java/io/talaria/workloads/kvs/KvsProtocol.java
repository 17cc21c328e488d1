// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;

/**
 * The service of the key-value store and its messages, which are protobuf's:
 *
 * <pre>{@code
 * syntax = "proto3";
 * package talaria.kvs;
 *
 * message Field {
 *   string name = 1;
 *   bytes value = 2;
 * }
 * message Row {
 *   string key = 1;
 *   repeated Field field = 2;
 * }
 * message Query {
 *   string key = 1;
 *   repeated string name = 2;   // none: all fields
 *   uint32 limit = 3;           // of a scan
 * }
 * service KeyValueStore {
 *   rpc Insert(Row) returns (Row);         // an empty one; ALREADY_EXISTS
 *   rpc Update(Row) returns (Row);         // an empty one; NOT_FOUND
 *   rpc Get(Query) returns (Row);          // NOT_FOUND
 *   rpc Delete(Query) returns (Row);       // an empty one; NOT_FOUND
 *   rpc Scan(Query) returns (stream Row);  // from the key on, in the order of keys
 * }
 * }</pre>
 *
 * <p>A key has 1 to {@value #MAX_KEY_BYTES} characters; else the answer is INVALID_ARGUMENT.
 */
final class KvsProtocol {
  static final int MAX_KEY_BYTES = 1_024;
  static final int MAX_SCAN = 100_000;

  static final String SERVICE = "talaria.kvs.KeyValueStore";

  private static final Marshaller<Row> ROWS = new RowMarshaller();
  private static final Marshaller<Query> QUERIES = new QueryMarshaller();

  static final MethodDescriptor<Row, Row> INSERT = method("Insert", MethodType.UNARY, ROWS);
  static final MethodDescriptor<Row, Row> UPDATE = method("Update", MethodType.UNARY, ROWS);
  static final MethodDescriptor<Query, Row> GET = method("Get", MethodType.UNARY, QUERIES);
  static final MethodDescriptor<Query, Row> DELETE = method("Delete", MethodType.UNARY, QUERIES);
  static final MethodDescriptor<Query, Row> SCAN =
      method("Scan", MethodType.SERVER_STREAMING, QUERIES);

  private KvsProtocol() {}

  private static <T> MethodDescriptor<T, Row> method(
      String name, MethodType type, Marshaller<T> requests) {
    return MethodDescriptor.newBuilder(requests, ROWS)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .setType(type)
        .build();
  }
}
