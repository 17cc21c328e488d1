// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * What launcher and agent say to each other over the standard streams of the command that started
 * the agent: after one line, the handshake, frames.
 *
 * <pre>
 *  frame   kind:1 | length:4 | bytes, at most 16 MiB           big endian
 * </pre>
 */
final class AgentWire {
  static final int VERSION = 2;

  /** The agent's first line: this, its version, that of its Java. */
  static final String HANDSHAKE = "talaria-mpj-agent ";

  // From the launcher.
  static final int PLAN = 1;
  static final int RANK_ADDRESSES = 2;
  static final int GO = 3;
  static final int DESCRIBE = 4;
  static final int STOP = 5;
  static final int TELL = 6;

  // From the agent.
  static final int HELLO = 21;
  static final int RANK_ADDRESS = 22;
  static final int INIT = 23;
  static final int FINISH = 24;
  static final int FINALIZED = 25;
  static final int ABORT = 26;
  static final int EXITED = 27;
  static final int FAILED = 28;
  static final int DESCRIBED = 29;
  static final int OUTPUT = 30;
  static final int ERRORS = 31;
  static final int SAID = 32;

  /** From both, each second. */
  static final int BEAT = 40;

  static final long BEAT_MS = 1000;

  /** After so long without a word the other side is lost. */
  static final long SILENCE_NS = 10_000_000_000L;

  private static final int MAX_BYTES = 16 << 20;

  /** Writes the content of a frame. */
  interface Content {
    void write(DataOutputStream to) throws IOException;
  }

  /** One frame that has arrived. */
  static final class Frame {
    private final int kind;
    private final byte[] bytes;

    private Frame(int kind, byte[] bytes) {
      this.kind = kind;
      this.bytes = bytes;
    }

    int kind() {
      return kind;
    }

    byte[] bytes() {
      return bytes;
    }

    DataInputStream content() {
      return new DataInputStream(new ByteArrayInputStream(bytes));
    }

    String text() {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private final DataInputStream in;
  private final DataOutputStream out;

  AgentWire(InputStream in, OutputStream out) {
    this.in = new DataInputStream(in);
    this.out = new DataOutputStream(out);
  }

  /** The next frame, or null at the end. */
  Frame read() throws IOException {
    int kind = in.read();
    if (kind < 0) {
      return null;
    }
    int length = in.readInt();
    if (length < 0 || length > MAX_BYTES) {
      throw new IOException("a frame of " + length + " bytes; " + MAX_BYTES + " are allowed");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return new Frame(kind, bytes);
  }

  void send(int kind, byte[] bytes, int offset, int length) throws IOException {
    synchronized (out) {
      out.writeByte(kind);
      out.writeInt(length);
      out.write(bytes, offset, length);
      out.flush();
    }
  }

  void send(int kind, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    send(kind, bytes, 0, bytes.length);
  }

  void send(int kind, Content content) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    content.write(new DataOutputStream(bytes));
    send(kind, bytes.toByteArray(), 0, bytes.size());
  }

  /** Sends, or does nothing if the other side has gone: the thread that reads detects that. */
  void tell(int kind, Content content) {
    try {
      send(kind, content);
    } catch (IOException e) {
      // Said by the reader.
    }
  }

  /** A stream whose writes become frames, one each. */
  OutputStream stream(int kind) {
    return new OutputStream() {
      @Override
      public void write(int b) {
        write(new byte[] {(byte) b}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) {
        try {
          // A line above a frame's length goes in several.
          for (int at = 0; at < length; at += MAX_BYTES) {
            send(kind, bytes, offset + at, Math.min(MAX_BYTES, length - at));
          }
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }

  /** Sends a beat each second on a thread of its own, until that fails. */
  void beat() {
    Thread beats =
        new Thread(
            () -> {
              try {
                while (true) {
                  send(BEAT, "");
                  Thread.sleep(BEAT_MS);
                }
              } catch (IOException | InterruptedException e) {
                // The other side is gone; the thread that reads finds out by itself.
              }
            },
            "talaria-mpj-beat");
    beats.setDaemon(true);
    beats.start();
  }
}
