// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent.named;

/** As Netty's event loop group on epoll, which fails where that is not there. */
public final class EpollGroup {
  static {
    if (!Epoll.AVAILABLE) {
      throw new UnsatisfiedLinkError("the transport is forbidden");
    }
  }

  private EpollGroup() {}

  /** Initializes this class. */
  public static String make() {
    return "made";
  }
}
