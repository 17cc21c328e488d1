// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

/** Carries a connection's two streams with blocking calls, one thread for each direction. */
public final class BlockingPump {
  private BlockingPump() {}

  /**
   * Runs both streams to their end; the channel stays open.
   *
   * @param traffic the connection, in blocking mode
   * @throws InterruptedException if this thread is interrupted
   */
  public static void run(Traffic traffic) throws InterruptedException {
    Thread writer =
        Console.daemon(
            "writer-" + Thread.currentThread().getName(),
            () -> {
              while (traffic.stepOut() >= 0) {
                traffic.source.shape().maybePause();
              }
            });
    while (traffic.stepIn() >= 0) {
      traffic.drain.shape().maybePause();
    }
    writer.join();
  }
}
