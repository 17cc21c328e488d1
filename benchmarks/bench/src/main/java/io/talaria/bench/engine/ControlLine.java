// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.ChildGoneException;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import jdk.net.ExtendedSocketOptions;

/**
 * One end of the control connection: TCP, a line of JSON each way at a time.
 *
 * <pre>
 *   command                                  benchmark server
 *     {"type":"hello",program,version,token,run} ──►
 *                                       ◄── {"type":"welcome",version,talaria,java}
 *     {"type":"start",transport}                 ──►
 *                                       ◄── {"type":"started"}
 *     {"type":"order",limitMs,order}        ──►  one for each phase
 *                                       ◄── {"type":"event",name,payload}
 *     {"type":"stop"}                       ──►  the JVM ends
 *                                       ◄── {"type":"stopped"}
 *     start again, or the end of the connection
 * </pre>
 *
 * <p>There is a connection for each JVM that the benchmark server runs; those of a command have
 * their run in common.
 *
 * <p>The benchmark server may answer anything by {@code {"type":"failed",message}}, or {@code
 * "gone"} if the JVM has ended on its own. Any thread may read or send; lines are whole.
 */
final class ControlLine implements AutoCloseable {
  static final String PROGRAM = "talaria-bench";
  static final int VERSION = 4;
  static final int MAX_CHARACTERS = 8 << 20;
  static final Duration LIMIT = Duration.ofSeconds(10);

  // A machine that has vanished is noticed after 75 seconds.
  private static final int PROBE_AFTER_S = 15;
  private static final int PROBE_EVERY_S = 15;
  private static final int PROBES = 4;

  private final Socket socket;
  private final String peer;
  private final ReentrantLock reading = new ReentrantLock();
  private final BufferedReader in;
  private final OutputStream out;

  /**
   * What a line says; what its type has no use for is null or 0.
   *
   * @param type its kind
   * @param limitMs of an order: how long it may take; 0 if no end is reported
   * @param order of an order
   * @param name of an event: which phase has ended
   * @param payload of an event
   * @param transport of a start
   * @param program of a hello
   * @param version of a hello and a welcome
   * @param token of a hello
   * @param run of a hello: what the connections of a command have in common
   * @param talaria of a welcome: the benchmark server's version
   * @param java of a welcome: the benchmark server's JVM
   * @param message of a failure
   */
  record Line(
      String type,
      long limitMs,
      JsonNode order,
      String name,
      JsonNode payload,
      String transport,
      String program,
      int version,
      String token,
      String run,
      String talaria,
      String java,
      String message) {}

  static Map<String, Object> line(String type) {
    return Map.of("type", type);
  }

  static Map<String, Object> hello(String token, String run) {
    return Map.of(
        "type", "hello", "program", PROGRAM, "version", VERSION, "token", token, "run", run);
  }

  static Map<String, Object> welcome(String talaria, String java) {
    return Map.of("type", "welcome", "version", VERSION, "talaria", talaria, "java", java);
  }

  static Map<String, Object> start(String transport) {
    return Map.of("type", "start", "transport", transport);
  }

  static Map<String, Object> order(JsonNode order, long limitMs) {
    return Map.of("type", "order", "limitMs", limitMs, "order", order);
  }

  static Map<String, Object> event(String name, JsonNode payload) {
    return Map.of("type", "event", "name", name, "payload", payload);
  }

  static Map<String, Object> failed(HarnessException e) {
    String type = e instanceof ChildGoneException ? "gone" : "failed";
    return Map.of("type", type, "message", String.valueOf(e.getMessage()));
  }

  ControlLine(Socket socket, String peer) throws IOException {
    this.socket = socket;
    this.peer = peer;
    socket.setTcpNoDelay(true);
    // A benchmark server waits for orders without limit, and serves no other command meanwhile.
    socket.setKeepAlive(true);
    socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, PROBE_AFTER_S);
    socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, PROBE_EVERY_S);
    socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    out = socket.getOutputStream();
  }

  /** Connects to a benchmark server. */
  static ControlLine connect(InetSocketAddress benchmarkServer) throws HarnessException {
    String where = benchmarkServer.getHostString() + ":" + benchmarkServer.getPort();
    if (benchmarkServer.isUnresolved()) {
      throw new HarnessException("unknown host: " + benchmarkServer.getHostString());
    }
    Socket socket = new Socket();
    try {
      socket.connect(benchmarkServer, (int) LIMIT.toMillis());
      return new ControlLine(socket, "server " + where);
    } catch (IOException e) {
      closeQuietly(socket);
      throw new HarnessException(
          "no server at "
              + where
              + " ("
              + e.getMessage()
              + "); start one there: the same command with --listen",
          e);
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is left to be lost.
    }
  }

  /** Returns the address by which this side reaches the other. */
  String peerAddress() {
    return socket.getInetAddress().getHostAddress();
  }

  void send(Map<String, Object> line) throws HarnessException {
    byte[] bytes = (Json.line(line) + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      synchronized (out) {
        out.write(bytes);
        out.flush();
      }
    } catch (IOException e) {
      throw lost(e);
    }
  }

  /**
   * The launcher of the other side's JVMs has exited, which explains the failures that others
   * report.
   */
  private HarnessException lost(IOException e) {
    return new ChildGoneException("the " + peer + " is lost: " + e.getMessage());
  }

  /**
   * Waits for a line.
   *
   * @param limit for how long; null: for ever
   * @return the line; null if the other side has closed the connection
   * @throws HarnessException if none comes in time, or one that makes no sense
   */
  Line receive(Duration limit) throws HarnessException {
    String text;
    reading.lock(); // who ends a JVM reads behind who waits for it
    try {
      socket.setSoTimeout(limit == null ? 0 : (int) Math.min(Integer.MAX_VALUE, limit.toMillis()));
      text = readLine();
    } catch (SocketTimeoutException e) {
      throw new HarnessException(
          "the " + peer + " has not answered within " + limit.toSeconds() + " s", e);
    } catch (IOException e) {
      throw lost(e);
    } finally {
      reading.unlock();
    }
    if (text == null) {
      return null;
    }
    Line line = parse(text);
    if (line == null || line.type() == null) {
      throw new HarnessException(
          "the " + peer + " does not speak the protocol of talaria's benchmarks");
    }
    return line;
  }

  private static Line parse(String text) {
    try {
      return Json.as(Json.parse(text), Line.class);
    } catch (IOException | IllegalArgumentException e) {
      return null;
    }
  }

  private String readLine() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int c = in.read(); c >= 0; c = in.read()) {
      if (c == '\n') {
        return text.toString();
      }
      if (text.length() == MAX_CHARACTERS) {
        return "";
      }
      text.append((char) c);
    }
    return null;
  }

  /** Waits for a line of a type; a failure, or an end, becomes an exception. */
  Line await(String type, Duration limit) throws HarnessException {
    Line line = receive(limit);
    if (line == null) {
      throw new ChildGoneException("the " + peer + " has gone");
    }
    switch (line.type()) {
      case "failed" -> throw new HarnessException("the " + peer + " says: " + line.message());
      case "gone" -> throw new ChildGoneException("the " + peer + " says: " + line.message());
      default -> {}
    }
    if (!line.type().equals(type)) {
      throw new HarnessException(
          "the " + peer + " sent '" + line.type() + "' where '" + type + "' was due");
    }
    return line;
  }

  @Override
  public void close() {
    closeQuietly(socket);
  }
}
