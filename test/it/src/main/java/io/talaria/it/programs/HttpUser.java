// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Pattern;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Sends requests with the JDK's HTTP client: many in turn on one connection, then many at once,
 * then large bodies. Says {@code @used} when all answers were right; its connections stay open.
 */
public final class HttpUser {
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(20))
          .build();

  private final String base;

  private HttpUser(Args args) {
    base = "http://127.0.0.1:" + args.number("port", 0);
  }

  /**
   * Runs the program.
   *
   * @param arguments port, turns, crowd, posts
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          HttpUser user = new HttpUser(args);
          for (int i = 0; i < args.count("turns", 500); i++) {
            user.check(user.get("/turn/" + i), new byte[0], "/turn/" + i);
          }
          user.together(args.count("crowd", 400), 0);
          user.together(args.count("posts", 64), 1 << 20);
          Console.say("used");
          Console.awaitEnd();
        });
  }

  private HttpResponse<byte[]> get(String path) throws Exception {
    return client.send(request(path).GET().build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private void together(int count, int bytes) {
    List<CompletableFuture<Void>> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String path = "/together/" + bytes + "/" + i;
      byte[] body = new byte[bytes];
      new Pattern(i + 1, bytes).fill(ByteBuffer.wrap(body), 0);
      HttpRequest request =
          request(path).POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
      answers.add(
          client
              .sendAsync(request, HttpResponse.BodyHandlers.ofByteArray())
              .thenAccept(response -> check(response, body, path)));
    }
    answers.forEach(CompletableFuture::join);
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(40));
  }

  private void check(HttpResponse<byte[]> response, byte[] body, String path) {
    if (response.statusCode() != 200
        || !path.equals(response.headers().firstValue("x-path").orElse(""))
        || !Arrays.equals(response.body(), body)) {
      throw new IllegalStateException(
          path + " got " + response + " with " + response.body().length + " bytes");
    }
  }
}
