// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * The socket options of a control connection. While it carries bells, TCP_NODELAY and SO_KEEPALIVE
 * are on whatever the program sets; it gets its own values back all the same.
 */
final class ControlOptions {
  private final SocketChannel control;
  private boolean shadowed;
  private Boolean noDelay;
  private Boolean keepAlive;

  ControlOptions(SocketChannel control) {
    this.control = control;
  }

  synchronized <T> void set(SocketOption<T> name, T value) throws IOException {
    if (shadowed && value != null && name.equals(StandardSocketOptions.TCP_NODELAY)) {
      noDelay = (Boolean) value;
    } else if (shadowed && value != null && name.equals(StandardSocketOptions.SO_KEEPALIVE)) {
      keepAlive = (Boolean) value;
    } else {
      control.setOption(name, value);
    }
  }

  synchronized <T> T get(SocketOption<T> name) throws IOException {
    if (shadowed && name.equals(StandardSocketOptions.TCP_NODELAY)) {
      return name.type().cast(noDelay);
    }
    if (shadowed && name.equals(StandardSocketOptions.SO_KEEPALIVE)) {
      return name.type().cast(keepAlive);
    }
    return control.getOption(name);
  }

  /** From now on the connection may carry bells, which must not wait for acknowledgements. */
  synchronized void shadow() {
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
