// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent.named;

/** As Netty's event loop group on io_uring. */
public final class IoUringGroup {
  private IoUringGroup() {}

  /** Returns whether it can be made. */
  public static boolean available() {
    return IoUring.AVAILABLE;
  }
}
