// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * The socket options of a control connection, and what they mean to its transport. While it carries
 * doorbells, TCP_NODELAY and SO_KEEPALIVE are on whatever the program sets; it gets its own values
 * back all the same. Any thread.
 */
public final class ControlOptions {
  private final SocketChannel control;

  // Guarded by this.
  private boolean shadowed;
  private Boolean noDelay;
  private Boolean keepAlive;

  // As the program has set them; others look.
  private volatile boolean lingerZero;
  private volatile int sendBuffer;
  private volatile int receiveBuffer;

  /** The options of a connection that carries no doorbells yet. */
  public ControlOptions(SocketChannel control) {
    this.control = control;
  }

  /** Whether a close is to reset the connection. */
  public boolean lingerZero() {
    return lingerZero;
  }

  /** SO_SNDBUF as the program has set it, or 0. */
  public int sendBuffer() {
    return sendBuffer;
  }

  /** SO_RCVBUF as the program has set it, here or at the listener, or 0. */
  public int receiveBuffer() {
    return receiveBuffer;
  }

  /**
   * The connection has come from a listener, and begins with that one's buffer.
   *
   * @param bytes what the program has set there, or 0
   */
  public void inheritReceiveBuffer(int bytes) {
    receiveBuffer = bytes;
  }

  /** Sets a supported option to a value of its type. */
  public synchronized <T> void set(SocketOption<T> name, T value) throws IOException {
    if (shadowed && name.equals(StandardSocketOptions.TCP_NODELAY)) {
      noDelay = (Boolean) value;
    } else if (shadowed && name.equals(StandardSocketOptions.SO_KEEPALIVE)) {
      keepAlive = (Boolean) value;
    } else {
      control.setOption(name, value);
    }
    if (name.equals(StandardSocketOptions.SO_LINGER)) {
      lingerZero = Integer.valueOf(0).equals(value);
    } else if (name.equals(StandardSocketOptions.SO_SNDBUF)) {
      sendBuffer = (Integer) value;
    } else if (name.equals(StandardSocketOptions.SO_RCVBUF)) {
      receiveBuffer = (Integer) value;
    }
  }

  /** Returns a supported option as the program has set it. */
  public synchronized <T> T get(SocketOption<T> name) throws IOException {
    if (shadowed && name.equals(StandardSocketOptions.TCP_NODELAY)) {
      return name.type().cast(noDelay);
    }
    if (shadowed && name.equals(StandardSocketOptions.SO_KEEPALIVE)) {
      return name.type().cast(keepAlive);
    }
    return control.getOption(name);
  }

  /** From now on the connection may carry doorbells, which must not wait for acknowledgements. */
  public synchronized void shadow() {
    if (!shadowed) {
      try {
        noDelay = control.getOption(StandardSocketOptions.TCP_NODELAY);
        keepAlive = control.getOption(StandardSocketOptions.SO_KEEPALIVE);
        control.setOption(StandardSocketOptions.TCP_NODELAY, true);
        control.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        shadowed = true;
      } catch (IOException e) {
        // The connection has just ended; reads and writes will say so.
      }
    }
  }
}
