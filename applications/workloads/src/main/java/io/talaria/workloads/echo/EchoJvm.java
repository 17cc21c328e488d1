// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.netty.NettyServer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.grpc.ByteServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The program of both sides. */
public final class EchoJvm {
  static final String READY = "ready";
  static final String ANSWER = "answer";

  private EchoJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    Peer.serve(EchoJvm::open, EchoJvm::run);
  }

  private static Service open(Task task) throws Exception {
    if (task.job(EchoJob.class).grpc()) {
      return new ByteServer(task, 1);
    }
    try {
      NettyServer server = new NettyServer(Peer.bindAddress(task.where()), 1);
      return Service.of(server.port(), server::close);
    } catch (IOException e) {
      throw Peer.cannotListen(task.where(), e);
    }
  }

  private static Object run(ParentLink link, Task task) throws Exception {
    boolean grpc = task.job(EchoJob.class).grpc();
    try (EchoLink echo = grpc ? new GrpcEcho(task.where()) : new NettyEcho(task.where())) {
      try {
        return talk(link, echo);
      } catch (InterruptedException e) {
        HarnessException lost = echo.lost();
        throw lost == null ? e : lost;
      }
    }
  }

  private static EchoResult talk(ParentLink link, EchoLink echo) throws Exception {
    Settling.await(1, () -> echo.ask(""));
    link.report(READY, new EchoResult(0, TransportProbe.look()));
    long lines = 0;
    EchoLine line = link.receive(EchoLine.class);
    while (line.text() != null) {
      check(line.text(), lines + 1);
      link.report(ANSWER, echo.ask(line.text()));
      lines++;
      line = link.receive(EchoLine.class);
    }
    return new EchoResult(lines, TransportProbe.look());
  }

  private static void check(String text, long number) throws HarnessException {
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > EchoLink.MAX_BYTES) {
      throw new HarnessException(
          String.format(
              Locale.ROOT,
              "line %,d has more than %,d bytes, which is the most that can be sent",
              number,
              EchoLink.MAX_BYTES));
    }
  }
}
