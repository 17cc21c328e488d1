// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.ffi.Epoll;
import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.nio.channels.SelectableChannel;

/**
 * Event descriptors of engines, behind one channel for the JDK's selectors, which is readable when
 * one of them is: an epoll descriptor of our own. Any thread may add and remove, also while another
 * sleeps on it.
 */
final class EventSet {
  private final Epoll epoll = new Epoll();
  private final SelectableChannel channel;

  EventSet() throws IOException {
    channel = JdkNio.channelOver(epoll.descriptor());
  }

  SelectableChannel channel() {
    return channel;
  }

  /**
   * Puts an engine's descriptor in.
   *
   * @return false if the kernel refuses, of which limits and memory can be the cause
   */
  boolean add(Engine engine) {
    if (channel.isOpen()) {
      try {
        epoll.add(engine.descriptor());
      } catch (IllegalStateException e) {
        return false;
      }
    }
    return true;
  }

  void remove(Engine engine) {
    if (channel.isOpen()) {
      epoll.remove(engine.descriptor());
    }
  }

  void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // Its descriptor is the selector's to free.
    }
  }
}
