// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent.asked;

/** As Netty's class of that name: looks once whether the transport is forbidden. */
public final class Epoll {
  private static final boolean AVAILABLE = !Boolean.getBoolean("io.netty.transport.noNative");

  private Epoll() {}

  /** Whether it is not. */
  public static boolean isAvailable() {
    return AVAILABLE;
  }
}
