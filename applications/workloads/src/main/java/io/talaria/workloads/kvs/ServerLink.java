// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.talaria.cli.harness.HostPort;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A connection to one server; calls block for {@value #LIMIT_SECONDS} s at most. Thread-safe. */
final class ServerLink implements AutoCloseable {
  private static final int LIMIT_SECONDS = 10;

  private final HostPort server;
  private final ManagedChannel channel;

  /** Prepares the connection, which the first call makes. */
  ServerLink(HostPort server, EventLoopGroup loops) {
    this.server = server;
    this.channel =
        NettyChannelBuilder.forAddress(new InetSocketAddress(server.host(), server.port()))
            .eventLoopGroup(loops)
            .channelType(NioSocketChannel.class)
            .directExecutor()
            .usePlaintext()
            .build();
  }

  /** Makes a call about one record. */
  <T> Row call(MethodDescriptor<T, Row> method, String key, T request) throws KvsException {
    try {
      return ClientCalls.blockingUnaryCall(channel, method, limit(), request);
    } catch (StatusRuntimeException e) {
      throw translate(key, e);
    }
  }

  List<Row> scan(Query query) throws KvsException {
    List<Row> rows = new ArrayList<>();
    try {
      Iterator<Row> stream =
          ClientCalls.blockingServerStreamingCall(channel, KvsProtocol.SCAN, limit(), query);
      stream.forEachRemaining(rows::add);
    } catch (StatusRuntimeException e) {
      throw translate(query.key(), e);
    }
    return rows;
  }

  private static CallOptions limit() {
    return CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  private KvsException translate(String key, StatusRuntimeException e) {
    Status status = e.getStatus();
    return switch (status.getCode()) {
      case NOT_FOUND ->
          new KvsException(KvsException.Reason.NOT_FOUND, "there is no record '" + key + "'", e);
      case ALREADY_EXISTS ->
          new KvsException(
              KvsException.Reason.EXISTS, "there is a record '" + key + "' already", e);
      case INVALID_ARGUMENT, RESOURCE_EXHAUSTED ->
          new KvsException(
              KvsException.Reason.REFUSED, server + " refuses: " + status.getDescription(), e);
      case DEADLINE_EXCEEDED -> lost("did not answer within " + LIMIT_SECONDS + " s", e);
      case UNIMPLEMENTED -> lost("is no key-value store", e);
      default -> lost("does not answer: " + reason(status), e);
    };
  }

  private KvsException lost(String what, Throwable cause) {
    return new KvsException(KvsException.Reason.LOST, server + " " + what, cause);
  }

  private static String reason(Status status) {
    Throwable cause = status.getCause();
    if (cause != null && cause.getMessage() != null) {
      return cause.getMessage();
    }
    String said = status.getDescription();
    return said == null ? status.getCode().toString() : said;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
