// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.jdk.JdkNio;
import java.io.InterruptedIOException;

/** What an interrupt means to a channel behind a {@code java.net.Socket}: it does not close it. */
public final class SocketInterrupt {
  private SocketInterrupt() {}

  /**
   * To be called before each wait: an interrupt ends the waiting of a virtual thread only. A
   * platform thread's is taken away, because parking would not wait with it.
   *
   * @return whether the caller is to restore the interrupt status when it has waited
   */
  public static boolean putOff() throws InterruptedIOException {
    Thread thread = Thread.currentThread();
    if (!JdkNio.isVirtual(thread)) {
      return Thread.interrupted();
    }
    if (thread.isInterrupted()) {
      throw new InterruptedIOException();
    }
    return false;
  }
}
