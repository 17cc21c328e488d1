// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.jdk.JdkEpoll;
import io.talaria.nio.ucx.binding.DescriptorSet;
import java.io.IOException;

/** A set of descriptors by the JDK's own calls, which Java 17 has. */
final class JucxDescriptors implements DescriptorSet {
  private final JdkEpoll epoll = new JdkEpoll();

  JucxDescriptors() throws IOException {}

  @Override
  public int descriptor() {
    return epoll.descriptor();
  }

  @Override
  public void add(int other) {
    epoll.add(other);
  }

  @Override
  public void remove(int other) {
    epoll.remove(other);
  }
}
