// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.ucx.binding.DescriptorSet;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.io.IOException;
import java.nio.channels.SelectableChannel;

/**
 * Event descriptors of engines, behind one channel for the JDK's selectors, which is readable when
 * one of them is: a descriptor of our own. Any thread may add and remove, also while another sleeps
 * on it.
 */
final class EventSet {
  private final DescriptorSet set;
  private final SelectableChannel channel;

  EventSet(UcxBinding binding) throws IOException {
    set = binding.newDescriptorSet();
    channel = JdkNio.channelOver(set.descriptor());
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
        set.add(engine.descriptor());
      } catch (IllegalStateException e) {
        return false;
      }
    }
    return true;
  }

  void remove(Engine engine) {
    if (channel.isOpen()) {
      set.remove(engine.descriptor());
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
