// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.util.function.BooleanSupplier;

/**
 * Connects a channel behind a {@code java.net.Socket}: without the JDK's blocking connect, which an
 * interrupt would end. One thread at a time connects; the thread that closes the channel ends that.
 */
public final class SocketConnect {
  private final SocketChannel control;
  private final BooleanSupplier closing;
  private final ControlWaiter waiter;

  /**
   * @param control what is connected; not blocking afterwards
   * @param closing whether the channel is being closed
   */
  public SocketConnect(
      SocketChannel control, BooleanSupplier closing, ControlWaiter.Repeater repeater) {
    this.control = control;
    this.closing = closing;
    waiter = new ControlWaiter(control, (who, event) -> closing.getAsBoolean(), repeater);
  }

  /**
   * Connects and waits for it.
   *
   * @param timeoutNs nanoseconds, or 0 for no limit
   * @return true
   */
  public boolean connect(SocketAddress address, long timeoutNs) throws IOException {
    long deadlineNs = System.nanoTime() + timeoutNs;
    boolean interrupted = false;
    control.configureBlocking(false);
    try {
      boolean done = control.connect(address);
      while (!done) {
        long leftNs = timeoutNs == 0 ? 0 : deadlineNs - System.nanoTime();
        if (leftNs < 0 || (leftNs == 0 && timeoutNs > 0)) {
          throw new SocketTimeoutException("Connect timed out");
        }
        interrupted |= SocketInterrupt.putOff();
        waiter.sleep(ControlWaiter.WRITER, JdkNio.WRITABLE, leftNs);
        if (closing.getAsBoolean()) {
          throw new AsynchronousCloseException();
        }
        done = control.finishConnect();
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Makes the thread that connects leave, and waits until it has: no thread may poll a descriptor
   * that is closed. To be called when the channel says that it closes, before it closes what is
   * connected.
   */
  public void awaitOut() {
    waiter.wakeAllAndAwait();
  }
}
