// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Blob;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Keys;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Uses a {@link JettyHost} with the JDK's HTTP client: in HTTP/1.1 and HTTP/2, in the clear and
 * with TLS; requests in turn on one connection, on connections that either side closes, many at
 * once, and bodies of 1 MiB each way. Says {@code @used} when all answers were right; its
 * connections stay open.
 */
public final class JettyUser {
  private static final int LARGE = 1 << 20;

  private final HttpClient.Version version;
  private final HttpClient client;
  private final String base;

  private JettyUser(HttpClient.Version version, boolean secure, Args args, Keys keys)
      throws Exception {
    this.version = version;
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(version).connectTimeout(Duration.ofSeconds(30));
    if (secure) {
      builder.sslContext(keys.context());
    }
    client = builder.build();
    base =
        secure
            ? "https://127.0.0.1:" + args.number("tls", 0)
            : "http://127.0.0.1:" + args.number("port", 0);
  }

  /**
   * Runs the program.
   *
   * @param arguments keys=... a key store; port, tls: the server's ports
   */
  public static void main(String[] arguments) {
    System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
    System.setProperty("jdk.httpclient.keepalive.timeout", "300");
    Console.run(
        arguments,
        args -> {
          Keys keys = Keys.load(Path.of(args.text("keys", "")));
          for (boolean secure : new boolean[] {false, true}) {
            for (HttpClient.Version version : HttpClient.Version.values()) {
              JettyUser user = new JettyUser(version, secure, args, keys);
              user.use();
              Console.say("done", "base", user.base, "version", version);
            }
          }
          Console.say("used");
          Console.awaitEnd();
        });
  }

  private void use() throws Exception {
    inTurn();
    if (version == HttpClient.Version.HTTP_1_1) {
      closing();
    }
    exchangeLarge(4, 1);
    exchangeLarge(1, 8);
    crowd();
  }

  /** The first request is for itself, because it may be the one that changes to HTTP/2. */
  private void inTurn() throws Exception {
    Set<String> connections = new HashSet<>();
    get("/first");
    for (int i = 0; i < 200; i++) {
      connections.add(remote(get("/turn/" + i)));
    }
    check(connections.size() == 1, "requests in turn used connections " + connections);
  }

  private void closing() throws Exception {
    String previous = "";
    for (int i = 0; i < 5; i++) {
      HttpRequest last = request("/last/" + i).header("connection", "close").build();
      String asked = remote(verify(last, client.send(last, bytes())));
      String told = remote(get("/close/" + i));
      boolean right = !asked.equals(previous) && !told.equals(asked);
      check(right, "a closed connection was used again: " + previous + " " + asked + " " + told);
      previous = told;
    }
  }

  private void exchangeLarge(int rounds, int atOnce) {
    for (int round = 0; round < rounds; round++) {
      List<CompletableFuture<Void>> answers = new ArrayList<>();
      for (int at = 0; at < atOnce; at++) {
        int seed = round * atOnce + at;
        HttpRequest post =
            request("/echo/" + seed)
                .POST(HttpRequest.BodyPublishers.ofByteArray(Blob.make(seed, LARGE)))
                .build();
        HttpRequest get = request("/make/" + seed + "/" + LARGE).build();
        for (HttpRequest request : List.of(post, get)) {
          answers.add(
              client
                  .sendAsync(request, bytes())
                  .thenAccept(answer -> Blob.check(verify(request, answer).body(), seed, LARGE)));
        }
      }
      answers.forEach(CompletableFuture::join);
    }
  }

  private void crowd() {
    for (int batch = 0; batch < 4; batch++) {
      List<CompletableFuture<?>> answers = new ArrayList<>();
      for (int i = 0; i < 32; i++) {
        HttpRequest request = request("/crowd/" + batch + "/" + i).build();
        answers.add(
            client.sendAsync(request, bytes()).thenAccept(answer -> verify(request, answer)));
      }
      answers.forEach(CompletableFuture::join);
    }
  }

  private HttpResponse<byte[]> get(String path) throws Exception {
    HttpRequest request = request(path).build();
    return verify(request, client.send(request, bytes()));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(60));
  }

  private static HttpResponse.BodyHandler<byte[]> bytes() {
    return HttpResponse.BodyHandlers.ofByteArray();
  }

  private static String remote(HttpResponse<byte[]> response) {
    return response.headers().firstValue("x-remote").orElseThrow();
  }

  private HttpResponse<byte[]> verify(HttpRequest request, HttpResponse<byte[]> response) {
    String path = response.headers().firstValue("x-path").orElse("");
    boolean right =
        response.statusCode() == 200
            && response.version() == version
            && path.equals(request.uri().getPath());
    check(right, request + " in " + version + " got " + response + " for " + path);
    return response;
  }

  private static void check(boolean right, String complaint) {
    if (!right) {
      throw new IllegalStateException(complaint);
    }
  }
}
