// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.monitor.PrometheusText;
import io.talaria.monitor.PrometheusWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves {@code GET /metrics}, and nothing else. Each request has a thread, so that a client which
 * sends half of one holds up no other; one thread at a time looks at the ports.
 */
final class MetricsServer implements AutoCloseable {
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int WRONG_METHOD = 405;
  private static final int BACKLOG = 16;
  private static final String MAX_REQUEST_S = "30";

  /** To look at a large fabric takes time. */
  private static final String MAX_RESPONSE_S = "300";

  private static final String MAX_CONNECTIONS = "64";

  static {
    // Without these limits a client that sends nothing more keeps its thread. The JDK reads them
    // once.
    System.getProperties().putIfAbsent("sun.net.httpserver.maxReqTime", MAX_REQUEST_S);
    System.getProperties().putIfAbsent("sun.net.httpserver.maxRspTime", MAX_RESPONSE_S);
    System.getProperties().putIfAbsent("jdk.httpserver.maxConnections", MAX_CONNECTIONS);
  }

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer server;
  private final PortSource source;

  /** Guarded by this. */
  private boolean closed;

  private MetricsServer(HttpServer server, PortSource source) {
    this.server = server;
    this.source = source;
  }

  static MetricsServer start(HostPort place, PortSource source) throws HarnessException {
    InetSocketAddress address = new InetSocketAddress(place.host(), place.port());
    if (address.isUnresolved()) {
      throw new HarnessException("the name " + place.host() + " is not known");
    }
    try {
      MetricsServer server = new MetricsServer(HttpServer.create(address, BACKLOG), source);
      server.server.createContext("/", server::respond);
      server.server.setExecutor(server.threads);
      server.server.start();
      return server;
    } catch (IOException e) {
      throw new HarnessException("cannot serve on " + place + ": " + e.getMessage(), e);
    }
  }

  InetSocketAddress address() {
    return server.getAddress();
  }

  private void respond(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (!exchange.getRequestURI().getPath().equals("/metrics")) {
        say(exchange, NOT_FOUND, "text/plain", "There is /metrics only.\n");
      } else if (!exchange.getRequestMethod().equals("GET")) {
        exchange.getResponseHeaders().set("Allow", "GET");
        say(exchange, WRONG_METHOD, "text/plain", "Only GET.\n");
      } else {
        say(exchange, OK, PrometheusWriter.CONTENT_TYPE, metrics());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A source is for one thread at a time, and not used any more once this is closed. */
  private synchronized String metrics() throws IOException, InterruptedException {
    if (closed) {
      throw new IOException("closed");
    }
    return PrometheusText.of(source.look().readings());
  }

  private static void say(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    synchronized (this) {
      closed = true;
    }
  }
}
