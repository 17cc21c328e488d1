// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * As much of a Redis server as its Java clients need to set and get values: RESP 2, a thread for
 * each connection, blocking channels.
 */
final class RedisServer {
  private final Map<String, byte[]> values = new ConcurrentHashMap<>();

  private RedisServer() {}

  /** Starts one, and returns its port. */
  static int start() throws IOException {
    RedisServer server = new RedisServer();
    ServerSocketChannel listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Failure.daemon(
        "redis",
        () -> {
          while (true) {
            SocketChannel client = listener.accept();
            Failure.daemon("redis-client", () -> server.serve(client));
          }
        });
    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }

  private void serve(SocketChannel client) throws IOException {
    try (client) {
      InputStream in = new BufferedInputStream(Channels.newInputStream(client), 1 << 16);
      OutputStream out = new BufferedOutputStream(Channels.newOutputStream(client), 1 << 16);
      for (int count = number(in, '*'); count > 0; count = number(in, '*')) {
        byte[][] words = new byte[count][];
        for (int i = 0; i < count; i++) {
          words[i] = in.readNBytes(number(in, '$'));
          line(in); // which ends it
        }
        answer(words, out);
        if (in.available() == 0) {
          out.flush();
        }
      }
    }
  }

  private void answer(byte[][] words, OutputStream out) throws IOException {
    String command = text(words[0]).toUpperCase(Locale.ROOT);
    switch (command) {
      case "SET" -> {
        values.put(text(words[1]), words[2]);
        write(out, "+OK\r\n");
      }
      case "GET" -> {
        byte[] value = values.get(text(words[1]));
        write(out, "$" + (value == null ? -1 : value.length) + "\r\n");
        if (value != null) {
          out.write(value);
          write(out, "\r\n");
        }
      }
      case "PING" -> write(out, "+PONG\r\n");
      case "CLIENT" -> write(out, "+OK\r\n");
      default -> write(out, "-ERR unknown command '" + command + "'\r\n");
    }
  }

  /** The number after a sign that must come next, or -1 at the end of the stream. */
  private static int number(InputStream in, char sign) throws IOException {
    String line = line(in);
    if (line == null && sign == '*') {
      return -1;
    }
    if (line == null || line.isEmpty() || line.charAt(0) != sign) {
      throw new IOException("expected " + sign + ", got " + line);
    }
    return Integer.parseInt(line, 1, line.length(), 10);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\r'; c = in.read()) {
      if (c < 0) {
        if (line.length() == 0) {
          return null;
        }
        throw new EOFException("in mid-line after " + line);
      }
      line.append((char) c);
    }
    if (in.read() != '\n') {
      throw new IOException("a line without its end: " + line);
    }
    return line.toString();
  }

  private static String text(byte[] word) {
    return new String(word, StandardCharsets.ISO_8859_1);
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.ISO_8859_1));
  }
}
