// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How one thread at a time waits for an event of a channel of the JDK's, which is not blocking, and
 * how another thread ends that wait when it closes the channel. For channels behind {@code
 * java.net.Socket}, which an interrupt does not close.
 */
final class Nap {
  /** A platform thread may miss a wake-up by a moment; then it looks by itself. */
  private static final long LOOK_AGAIN_NS = 200_000_000L;

  private final BooleanSupplier over;
  private volatile Thread sleeper;
  private volatile long polling;

  /**
   * @param over whether there is nothing to wait for any more; whoever makes it so calls {@link
   *     #wake} afterwards
   */
  Nap(BooleanSupplier over) {
    this.over = over;
  }

  /** Waits for an event, a wake-up, or a time; any of them may be early. */
  void take(SelectableChannel channel, int event, long limitNs) throws IOException {
    sleeper = Thread.currentThread();
    polling = JdkNio.currentNativeThread();
    try {
      if (!over.getAsBoolean()) {
        JdkNio.park(
            channel, event, limitNs == 0 ? LOOK_AGAIN_NS : Math.min(limitNs, LOOK_AGAIN_NS));
      }
    } finally {
      polling = 0;
      sleeper = null;
    }
  }

  void wake() {
    Thread waked = sleeper;
    if (waked != null) {
      JdkNio.signal(polling);
      LockSupport.unpark(waked);
    }
  }

  /**
   * To be called before each wait of a channel behind a socket: an interrupt ends the waiting of a
   * virtual thread only. A platform thread's is taken away, because parking would not wait with it.
   *
   * @return whether the caller is to restore the interrupt status when it has waited
   */
  static boolean interruptPutOff() throws InterruptedIOException {
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
