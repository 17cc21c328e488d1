// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/**
 * One connection with a stream in each direction, and how each ended. The reading and the writing
 * half may be used by two threads.
 */
public final class Traffic {
  /** A stream that came to its proper end. */
  public static final String COMPLETE = "complete";

  /** End of stream before all promised bytes came. */
  public static final String CUT = "eof";

  final SocketChannel channel;
  final Source source;
  final Drain drain;
  final boolean halfClose;
  private final boolean accepted;
  volatile String inEnd;
  volatile String outEnd;
  private volatile Progress progress = new Progress() {};

  /** Hears how far the streams are, in the thread that has moved them, after each call. */
  public interface Progress {
    /**
     * A write has returned.
     *
     * @param position bytes sent so far
     */
    default void sent(long position) {}

    /**
     * A read has returned.
     *
     * @param position bytes received so far
     */
    default void received(long position) {}
  }

  Traffic(SocketChannel channel, boolean accepted, Source source, Drain drain, boolean halfClose) {
    this.channel = channel;
    this.accepted = accepted;
    this.source = source;
    this.drain = drain;
    this.halfClose = halfClose;
  }

  /**
   * Sets a listener for each call that moves bytes.
   *
   * @param listener is told of all calls from now on
   */
  public void watch(Progress listener) {
    progress = listener;
  }

  /**
   * The connection.
   *
   * @return the channel
   */
  public SocketChannel channel() {
    return channel;
  }

  /**
   * Which side this is.
   *
   * @return true if the connection was accepted here
   */
  public boolean accepted() {
    return accepted;
  }

  /**
   * Reads once and notes the end, if this was it.
   *
   * @return bytes read, or -1 if the stream has ended in whatever way
   */
  long stepIn() {
    if (inEnd != null) {
      return -1;
    }
    try {
      long read = drain.step(channel);
      if (read > 0) {
        progress.received(drain.position());
      }
      if (read < 0) {
        inEnd = drain.complete() ? COMPLETE : CUT;
        checkEndStays();
      } else if (!halfClose && drain.complete()) {
        inEnd = COMPLETE;
      }
      return inEnd == null ? read : -1;
    } catch (IOException failure) {
      inEnd = describe(failure);
      return -1;
    }
  }

  private void checkEndStays() throws IOException {
    for (int i = 0; i < 2; i++) {
      long read = drain.step(channel);
      if (read > 0) {
        throw new IllegalStateException("a read after the end returned " + read);
      }
    }
  }

  /**
   * Writes once; after the last byte shuts the output down, if this connection ends that way.
   *
   * @return bytes written, or -1 if the stream has ended in whatever way
   */
  long stepOut() {
    if (outEnd != null) {
      return -1;
    }
    try {
      long written = source.step(channel);
      if (written > 0) {
        progress.sent(source.position());
      }
      if (source.done()) {
        if (halfClose) {
          channel.shutdownOutput();
        }
        outEnd = COMPLETE;
        return -1;
      }
      return written;
    } catch (IOException failure) {
      outEnd = describe(failure);
      return -1;
    }
  }

  boolean over() {
    return inEnd != null && outEnd != null;
  }

  /**
   * How the inbound stream ended.
   *
   * @return {@link #COMPLETE}, {@link #CUT}, or the exception; null while it lives
   */
  public String inEnd() {
    return inEnd;
  }

  /**
   * How the outbound stream ended.
   *
   * @return {@link #COMPLETE} or the exception; null while it lives
   */
  public String outEnd() {
    return outEnd;
  }

  /**
   * The outbound stream alone.
   *
   * @return writes it
   */
  public Source source() {
    return source;
  }

  /**
   * The inbound stream alone.
   *
   * @return reads and checks it
   */
  public Drain drain() {
    return drain;
  }

  /**
   * Bytes sent so far.
   *
   * @return bytes
   */
  public long sent() {
    return source.position();
  }

  /**
   * Bytes received so far.
   *
   * @return bytes
   */
  public long received() {
    return drain.position();
  }

  /**
   * Checks that both streams came to their proper end.
   *
   * @throws IllegalStateException if not
   */
  public void checkComplete() {
    if (!COMPLETE.equals(inEnd) || !COMPLETE.equals(outEnd)) {
      throw new IllegalStateException(
          "a connection ended: in "
              + inEnd
              + " after "
              + received()
              + " bytes, out "
              + outEnd
              + " after "
              + sent()
              + " bytes");
    }
  }

  /**
   * Closes the connection.
   *
   * @throws IOException as the channel throws it
   */
  public void close() throws IOException {
    channel.close();
  }

  private static String describe(IOException failure) {
    return failure.getClass().getSimpleName() + ":" + failure.getMessage();
  }
}
