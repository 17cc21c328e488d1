// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent.named;

/** As Netty's class of that name: looks once whether the transport is forbidden. */
final class IoUring {
  static final boolean AVAILABLE = !Boolean.getBoolean("io.netty.transport.noNative");

  private IoUring() {}
}
