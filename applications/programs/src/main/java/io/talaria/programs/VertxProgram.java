// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Vert.x: its HTTP server and its HTTP client, one connection for each client. */
final class VertxProgram implements ThirdParty {
  private final Vertx vertx = Vertx.vertx();

  private static <T> T result(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
  }

  @Override
  public int serve(Path folder) throws Exception {
    return result(
            vertx
                .createHttpServer()
                .requestHandler(
                    request ->
                        request
                            .body()
                            .onSuccess(body -> request.response().end(body))
                            .onFailure(Failure::end))
                .listen(0, "127.0.0.1"))
        .actualPort();
  }

  @Override
  public Guest connect(int port) {
    HttpClient client = vertx.createHttpClient(new HttpClientOptions().setMaxPoolSize(1));
    // All of it is composed on the event loop: an answer that came before body() would be lost.
    return message ->
        result(
                client
                    .request(HttpMethod.POST, port, "127.0.0.1", "/echo")
                    .compose(
                        request ->
                            request.send(Buffer.buffer(message)).compose(HttpClientResponse::body)))
            .getBytes();
  }
}
