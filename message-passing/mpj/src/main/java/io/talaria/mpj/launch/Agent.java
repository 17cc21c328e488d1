// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The launcher's other half on another host: runs the ranks there. It is started by {@code ssh} or
 * the like and talks with the launcher over its standard streams, so no port listens, and that
 * command decides which users may start it. When its input ends, or brings nothing for ten seconds,
 * it ends its ranks and itself.
 */
public final class Agent {
  private Agent() {}

  /**
   * Serves one job; the launcher's business.
   *
   * @param args none
   * @throws IOException if the launcher is gone before it began
   */
  public static void main(String[] args) throws IOException {
    FileOutputStream out = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err); // Nothing but frames may go there.
    out.write(
        (AgentWire.HANDSHAKE + AgentWire.VERSION + " " + Runtime.version().feature() + "\n")
            .getBytes(StandardCharsets.UTF_8));
    AgentWire wire = new AgentWire(System.in, out);
    AgentWire.Frame first = wire.read();
    if (first == null || first.kind() != AgentWire.PLAN) {
      System.err.println("talaria mpirun: the agent was not given a plan");
      System.exit(2);
      return;
    }
    wire.beat();
    HostRanks ranks;
    try {
      ranks =
          new HostRanks(
              Plan.read(first.content()),
              false, // It is the link to the launcher.
              new Reports(wire),
              wire.stream(AgentWire.OUTPUT),
              wire.stream(AgentWire.ERRORS));
    } catch (IOException e) {
      wire.send(AgentWire.FAILED, "" + e.getMessage());
      System.exit(1);
      return;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(ranks::kill, "talaria-mpj-sweep"));
    Silence silence = new Silence(() -> Runtime.getRuntime().exit(1));
    ranks.start();
    serve(wire, ranks, silence);
    System.exit(0);
  }

  private static void serve(AgentWire wire, HostRanks ranks, Silence silence) {
    boolean stopping = false;
    try {
      AgentWire.Frame frame;
      while ((frame = wire.read()) != null) {
        silence.heard();
        switch (frame.kind()) {
          case AgentWire.RANK_ADDRESSES -> ranks.rankAddresses(List.of(frame.text().split("\n")));
          case AgentWire.GO -> ranks.go();
          case AgentWire.TELL -> {
            String[] words = frame.text().split(" ", 2);
            ranks.tell(Integer.parseInt(words[0]), words[1]);
          }
          case AgentWire.DESCRIBE ->
              wire.send(AgentWire.DESCRIBED, String.join("\n", ranks.describe()));
          case AgentWire.STOP -> {
            if (!stopping) {
              stopping = true;
              new Thread(() -> end(ranks), "talaria-mpj-end").start();
            }
          }
          default -> {}
        }
      }
    } catch (IOException e) {
      // As its end.
    }
    ranks.kill();
  }

  /**
   * Ends when all that the ranks wrote has been sent. Meanwhile the launcher's beats are read: how
   * long it takes depends on the reader of the launcher's output.
   */
  private static void end(HostRanks ranks) {
    ranks.awaitEnd(Long.MAX_VALUE);
    System.exit(0);
  }

  private record Reports(AgentWire wire) implements Host.Events {
    @Override
    public void hello(int rank, long pid) {
      wire.tell(
          AgentWire.HELLO,
          to -> {
            to.writeInt(rank);
            to.writeLong(pid);
          });
    }

    @Override
    public void rankAddress(int rank, String rankAddress) {
      wire.tell(
          AgentWire.RANK_ADDRESS,
          to -> {
            to.writeInt(rank);
            to.writeUTF(rankAddress);
          });
    }

    @Override
    public void init(int rank) {
      wire.tell(AgentWire.INIT, to -> to.writeInt(rank));
    }

    @Override
    public void finish(int rank) {
      wire.tell(AgentWire.FINISH, to -> to.writeInt(rank));
    }

    @Override
    public void finalized(int rank) {
      wire.tell(AgentWire.FINALIZED, to -> to.writeInt(rank));
    }

    @Override
    public void said(int rank, String line) {
      wire.tell(
          AgentWire.SAID,
          to -> {
            to.writeInt(rank);
            to.write(line.getBytes(StandardCharsets.UTF_8));
          });
    }

    @Override
    public void abort(int rank, int status, String why) {
      wire.tell(
          AgentWire.ABORT,
          to -> {
            to.writeInt(rank);
            to.writeInt(status);
            to.writeUTF(why);
          });
    }

    @Override
    public void exited(int rank, long pid, int status) {
      wire.tell(
          AgentWire.EXITED,
          to -> {
            to.writeInt(rank);
            to.writeLong(pid);
            to.writeInt(status);
          });
    }

    @Override
    public void failed(String why) {
      wire.tell(AgentWire.FAILED, to -> to.write(why.getBytes(StandardCharsets.UTF_8)));
    }
  }
}
