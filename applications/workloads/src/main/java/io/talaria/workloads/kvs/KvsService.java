// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

/** Answers the calls of {@link KvsProtocol} from a store, without ever waiting. */
final class KvsService {
  private final RecordStore store = new RecordStore();

  ServerServiceDefinition definition() {
    return ServerServiceDefinition.builder(KvsProtocol.SERVICE)
        .addMethod(KvsProtocol.INSERT, ServerCalls.asyncUnaryCall(this::insert))
        .addMethod(KvsProtocol.UPDATE, ServerCalls.asyncUnaryCall(this::update))
        .addMethod(KvsProtocol.GET, ServerCalls.asyncUnaryCall(this::get))
        .addMethod(KvsProtocol.DELETE, ServerCalls.asyncUnaryCall(this::delete))
        .addMethod(KvsProtocol.SCAN, ServerCalls.asyncServerStreamingCall(this::scan))
        .build();
  }

  private void insert(Row row, StreamObserver<Row> answer) {
    if (valid(row.key(), answer)) {
      acknowledge(store.insert(row), Status.ALREADY_EXISTS, answer);
    }
  }

  private void update(Row row, StreamObserver<Row> answer) {
    if (valid(row.key(), answer)) {
      acknowledge(store.update(row), Status.NOT_FOUND, answer);
    }
  }

  private void get(Query query, StreamObserver<Row> answer) {
    if (valid(query.key(), answer)) {
      Row row = store.get(query);
      if (row == null) {
        answer.onError(Status.NOT_FOUND.asException());
      } else {
        answer.onNext(row);
        answer.onCompleted();
      }
    }
  }

  private void delete(Query query, StreamObserver<Row> answer) {
    if (valid(query.key(), answer)) {
      acknowledge(store.delete(query), Status.NOT_FOUND, answer);
    }
  }

  private void scan(Query query, StreamObserver<Row> answer) {
    if (query.limit() < 0 || query.limit() > KvsProtocol.MAX_SCAN) {
      refuse("a scan is of 0 to " + KvsProtocol.MAX_SCAN + " records", answer);
      return;
    }
    ServerCallStreamObserver<Row> call = (ServerCallStreamObserver<Row>) answer;
    store.scan(
        query,
        row -> {
          call.onNext(row);
          return !call.isCancelled();
        });
    if (!call.isCancelled()) {
      call.onCompleted();
    }
  }

  private static boolean valid(String key, StreamObserver<Row> answer) {
    if (!key.isEmpty() && key.length() <= KvsProtocol.MAX_KEY_BYTES) {
      return true;
    }
    refuse(
        "a key has 1 to " + KvsProtocol.MAX_KEY_BYTES + " characters, this one " + key.length(),
        answer);
    return false;
  }

  private static void refuse(String why, StreamObserver<Row> answer) {
    answer.onError(Status.INVALID_ARGUMENT.withDescription(why).asException());
  }

  private static void acknowledge(boolean done, Status otherwise, StreamObserver<Row> answer) {
    if (done) {
      answer.onNext(Row.NONE);
      answer.onCompleted();
    } else {
      answer.onError(otherwise.asException());
    }
  }
}
