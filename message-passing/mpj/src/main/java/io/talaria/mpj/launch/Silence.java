// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

/** Watches that the other side sends something at least every {@link AgentWire#SILENCE_NS}. */
final class Silence {
  private volatile long heard = System.nanoTime();
  private volatile boolean over;
  private volatile boolean busy;

  /**
   * Begins.
   *
   * @param lost run once, on a thread of its own, when nothing was heard for too long
   */
  Silence(Runnable lost) {
    Thread watch =
        new Thread(
            () -> {
              try {
                long last = System.nanoTime();
                while (!over) {
                  Thread.sleep(AgentWire.BEAT_MS / 2);
                  long now = System.nanoTime();
                  if (now - last > AgentWire.SILENCE_NS / 2) {
                    heard = now; // This process itself was stopped.
                  }
                  last = now;
                  if (!busy && now - heard > AgentWire.SILENCE_NS) {
                    over = true;
                    lost.run();
                  }
                }
              } catch (InterruptedException e) {
                // No code interrupts this thread.
              }
            },
            "talaria-mpj-silence");
    watch.setDaemon(true);
    watch.start();
  }

  void heard() {
    heard = System.nanoTime();
  }

  /** While the listener itself is busy, silence is not the other's fault. */
  void busy(boolean is) {
    heard = System.nanoTime();
    busy = is;
  }

  void end() {
    over = true;
  }
}
