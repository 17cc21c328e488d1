// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;

/** The program of a server, and of a shell's connections. */
public final class KvsJvm {
  /** The event of a shell that may be given lines. */
  static final String READY = "ready";

  /** The event of a line that was carried out. */
  static final String ANSWER = "answer";

  private KvsJvm() {}

  /**
   * Does what the command orders.
   *
   * @param args none
   */
  public static void main(String[] args) {
    Peer.serve(KvsHost::open, KvsJvm::shell);
  }

  private static Object shell(ParentLink link, Task task) throws Exception {
    EventLoopGroup loops = new NioEventLoopGroup(1);
    try (KvsClient client = KvsClient.connect(task.job(KvsJob.class).servers(), loops)) {
      Settling.await(client.connections(), client::ping);
      link.report(READY, TransportProbe.look());
      Shell shell = new Shell(client);
      Shell.Answer answer;
      do {
        answer = shell.execute(link.receive(String.class));
        link.report(ANSWER, answer);
      } while (!answer.end());
      return answer;
    } finally {
      loops.shutdownGracefully();
    }
  }
}
