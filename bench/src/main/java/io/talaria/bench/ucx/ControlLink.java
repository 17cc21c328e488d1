// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * One end of a control connection: TCP with frames, byte order big-endian.
 *
 * <pre>
 *   0        4      5
 *   +--------+------+-------------------+
 *   | length | type | JSON, UTF-8       |
 *   +--------+------+-------------------+
 *
 *   client                        server
 *     HELLO    ------------------►          program, version, token
 *              ◄------------------ WELCOME  or FAILED
 *     SETUP    ------------------►          operation, size, how to reach the client
 *              ◄------------------ READY    how to reach the server, which follows from now on
 *          (traffic over UCX, until the client has done its last operation)
 *     STOP     ------------------►          how many there were
 *              ◄------------------ STOPPED  how many it has seen
 *     CLOSE    ------------------►          both close what they have of UCX
 *              ◄------------------ CLOSED
 *     SETUP or BASELINE again, or the end of the connection
 * </pre>
 *
 * <p>The length is that of the JSON, at most {@value #MAX_BYTES}. Either side may send FAILED at
 * any time. A thread of its own reads, so that {@link #check} tells at once, and cheaply, when the
 * other side is gone. The other methods may be called by any thread.
 */
final class ControlLink implements AutoCloseable {
  static final String PROGRAM = "talaria-bench-ucx";
  static final int VERSION = 1;
  static final int MAX_BYTES = 1 << 20;

  /** How long the other side may take to answer. */
  static final Duration LIMIT = Duration.ofSeconds(30);

  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);

  private final Socket socket;
  private final String peer;
  private final DataOutputStream out;
  private final BlockingQueue<Frame> frames = new LinkedBlockingQueue<>();
  private volatile String failure;

  /**
   * A frame.
   *
   * @param type its type; null: no more will come
   * @param payload what it carries
   */
  private record Frame(FrameType type, JsonNode payload) {
    static final Frame END = new Frame(null, null);
  }

  private ControlLink(Socket socket, String peer) throws IOException {
    this.socket = socket;
    this.peer = peer;
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    out = new DataOutputStream(socket.getOutputStream());
    DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    Thread reader = new Thread(() -> read(in), "talaria-bench-control");
    reader.setDaemon(true);
    reader.start();
  }

  /** Takes over a connection that was accepted; closes it if that fails. */
  static ControlLink accepted(Socket socket) throws IOException {
    try {
      return new ControlLink(socket, "client");
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Connects to a server and introduces this side.
   *
   * @param server where it listens
   * @param token what the server wants to hear
   * @throws IOException if there is none, or it refuses
   */
  static ControlLink connect(InetSocketAddress server, String token) throws IOException {
    if (server.isUnresolved()) {
      throw new ControlException("unknown host: " + server.getHostString());
    }
    Socket socket = new Socket();
    try {
      socket.connect(server, (int) CONNECT_LIMIT.toMillis());
    } catch (IOException e) {
      socket.close();
      throw new ControlException(
          "no server at "
              + server.getHostString()
              + ":"
              + server.getPort()
              + " ("
              + e.getMessage()
              + "); start one there: talaria bench ucx --listen");
    }
    ControlLink link = null;
    try {
      link = new ControlLink(socket, "server");
      link.send(FrameType.HELLO, new Messages.Hello(PROGRAM, VERSION, token));
      link.await(FrameType.WELCOME, Messages.Welcome.class, LIMIT);
      return link;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private void read(DataInputStream in) {
    String end;
    try {
      while (true) {
        Frame frame = readFrame(in);
        if (frame.type() == FrameType.FAILED) {
          end = "the " + peer + " gave up: " + frame.payload().path("message").asText();
          break;
        }
        frames.add(frame);
      }
    } catch (EOFException e) {
      end = "the " + peer + " has gone";
    } catch (ControlException e) {
      end = e.getMessage();
    } catch (IOException e) {
      end = "the " + peer + " is lost: " + e.getMessage();
    }
    failure = end;
    frames.add(Frame.END);
  }

  private Frame readFrame(DataInputStream in) throws IOException {
    int length = in.readInt();
    FrameType type = FrameType.of(in.readByte());
    if (type == null || length < 0 || length > MAX_BYTES) {
      throw new ControlException("the " + peer + " does not speak the benchmark's protocol");
    }
    byte[] json = new byte[length];
    in.readFully(json);
    try {
      return new Frame(type, Json.parse(new String(json, StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new ControlException("the " + peer + " sent a " + type + " that is no JSON");
    }
  }

  /**
   * Sends a frame.
   *
   * @throws IOException if the other side is gone; with its own words if it has said why
   */
  void send(FrameType type, Object payload) throws IOException {
    byte[] json = Json.line(payload).getBytes(StandardCharsets.UTF_8);
    byte[] frame = new byte[Integer.BYTES + 1 + json.length];
    java.nio.ByteBuffer.wrap(frame).putInt(json.length).put(type.code()).put(json);
    try {
      synchronized (out) {
        out.write(frame);
        out.flush();
      }
    } catch (IOException e) {
      String why = failure;
      throw why == null ? e : new ControlException(why);
    }
  }

  /** Tells the other side why this one gives up, if it still listens. */
  void fail(String message) {
    try {
      send(FrameType.FAILED, new Messages.Failed(message));
    } catch (IOException e) {
      // It has gone already.
    }
  }

  /**
   * Waits for a frame.
   *
   * @param wanted of which type it must be
   * @param payload what it carries
   * @param limit how long to wait
   * @throws ControlException if something else comes, or nothing in time, or the other side is gone
   */
  <T> T await(FrameType wanted, Class<T> payload, Duration limit) throws ControlException {
    Frame frame = next(limit);
    if (frame == null) {
      throw new ControlException(
          "the " + peer + " has sent no " + wanted + " within " + limit.toSeconds() + " s");
    }
    return payload(frame, wanted, payload);
  }

  /** Gives a frame that is there, or null; otherwise like {@link #await}. */
  <T> T poll(FrameType wanted, Class<T> payload) throws ControlException {
    Frame frame = frames.poll();
    return frame == null ? null : payload(frame, wanted, payload);
  }

  /**
   * Waits for a request.
   *
   * @return its type
   * @throws ControlException if the other side is gone
   */
  Request awaitRequest() throws ControlException {
    while (true) {
      Frame frame = next(Duration.ofHours(1));
      if (frame != null) {
        return new Request(requireMore(frame).type(), frame.payload());
      }
    }
  }

  /**
   * What the other side wants.
   *
   * @param type the frame's type
   * @param payload what it carries
   */
  record Request(FrameType type, JsonNode payload) {
    <T> T as(Class<T> wanted) throws ControlException {
      return convert(payload, type, wanted);
    }
  }

  private <T> T payload(Frame frame, FrameType wanted, Class<T> payload) throws ControlException {
    if (requireMore(frame).type() != wanted) {
      throw new ControlException(
          "the " + peer + " sent " + frame.type() + " where " + wanted + " was due");
    }
    return convert(frame.payload(), wanted, payload);
  }

  private Frame requireMore(Frame frame) throws ControlException {
    if (frame.type() == null) {
      frames.add(frame);
      throw new ControlException(failure);
    }
    return frame;
  }

  private static <T> T convert(JsonNode node, FrameType type, Class<T> wanted)
      throws ControlException {
    try {
      return Json.as(node, wanted);
    } catch (IOException | IllegalArgumentException e) {
      throw new ControlException("a " + type + " with the wrong content");
    }
  }

  private Frame next(Duration limit) throws ControlException {
    try {
      return frames.poll(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ControlException("interrupted");
    }
  }

  /**
   * Throws if the other side is gone. Cheap: one volatile read.
   *
   * @throws PeerLostException if it is
   */
  void check() {
    String why = failure;
    if (why != null) {
      throw new PeerLostException(why);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is left to be lost.
    }
  }
}
