// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.run.BoundedLines;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Gives the lines of standard input to the client, in a thread of its own: reading them waits. */
final class LineFeeder {
  private final ChildJvm client;

  private LineFeeder(ChildJvm client) {
    this.client = client;
  }

  static void start(ChildJvm client) {
    Thread.ofPlatform().daemon().name("talaria-echo-lines").start(new LineFeeder(client)::feed);
  }

  private void feed() {
    try {
      try {
        BoundedLines in =
            new BoundedLines(
                new InputStreamReader(System.in, StandardCharsets.UTF_8), EchoLink.MAX_BYTES);
        for (String line = in.next(); line != null; line = in.next()) {
          client.send(new EchoLine(line));
        }
      } catch (IOException e) {
        System.err.println("talaria: cannot read standard input: " + e.getMessage());
      }
      client.send(new EchoLine(null));
    } catch (HarnessException e) {
      // The client has gone; the thread that waits for its answers is told why.
    }
  }
}
