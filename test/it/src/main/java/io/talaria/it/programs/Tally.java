// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Traffic;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Counts the connections that are done and checks each. Any thread may call any method. */
final class Tally {
  private final boolean keep;
  private final List<Traffic> kept = new ArrayList<>();
  private final long startNs = System.nanoTime();
  private int count;
  private long sentBytes;
  private long receivedBytes;

  Tally(Args args) {
    this.keep = args.is("keep", "yes", "no");
  }

  /** Takes a connection whose streams have ended; closes it unless it is to be kept. */
  synchronized void add(Traffic traffic) throws IOException {
    traffic.checkComplete();
    count++;
    sentBytes += traffic.sent();
    receivedBytes += traffic.received();
    if (keep) {
      kept.add(traffic);
    } else {
      traffic.close();
    }
  }

  synchronized int count() {
    return count;
  }

  /** Says that all is done, and closes the kept connections when told. */
  void finish() throws IOException, InterruptedException {
    synchronized (this) {
      Console.say(
          "finished",
          "connections",
          count,
          "sent",
          sentBytes,
          "received",
          receivedBytes,
          "ms",
          (System.nanoTime() - startNs) / 1_000_000);
    }
    if (keep) {
      Console.awaitCommand("close");
      synchronized (this) {
        for (Traffic traffic : kept) {
          traffic.close();
        }
      }
      Console.say("closed");
    }
  }
}
