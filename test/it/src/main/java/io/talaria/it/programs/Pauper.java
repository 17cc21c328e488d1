// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Args;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs out of descriptors when it is told to. Commands: {@code take N} opens files until no more
 * can be opened, and leaves N descriptors: {@code @taken}; {@code free} closes the files, {@code
 * free N} so many of them: {@code @freed}; {@code listen} says {@code @listening port=...}; {@code
 * connect PORT} and {@code accept} say {@code @connected} or {@code @accepted port=...}, the
 * client's port; {@code write PORT} and {@code read PORT} move one byte on the connection of that
 * client's port: {@code @moved}.
 */
public final class Pauper {
  private static final Path ANY_FILE = Path.of("/dev/null");
  private static final int FEW = 4096;
  private static final long PAUSE_NS = 1_000_000L;
  private static final int QUIET_LOOKS = 50;

  private final Args args;
  private final List<Closeable> files = new ArrayList<>();
  private final Map<Integer, SocketChannel> channels = new HashMap<>();
  private ServerSocketChannel listener;

  private Pauper(Args args) {
    this.args = args;
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Pauper pauper = new Pauper(args);
          while (true) {
            String[] words = Console.command().split(" ");
            pauper.obey(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 0);
          }
        });
  }

  private void obey(String command, int number) throws IOException {
    switch (command) {
      case "take":
        take(number);
        break;
      case "free":
        leave(number == 0 ? files.size() : number);
        Console.say("freed");
        break;
      case "listen":
        listener = patiently(() -> Endpoint.listen(args));
        break;
      case "connect":
        InetSocketAddress server = new InetSocketAddress("127.0.0.1", number);
        SocketChannel client = patiently(() -> SocketChannel.open(server));
        channels.put(((InetSocketAddress) client.getLocalAddress()).getPort(), client);
        Endpoint.connected(client);
        break;
      case "accept":
        SocketChannel accepted = patiently(listener::accept);
        channels.put(((InetSocketAddress) accepted.getRemoteAddress()).getPort(), accepted);
        Endpoint.accepted(accepted);
        break;
      case "write":
        channels.get(number).write(ByteBuffer.allocate(1));
        Console.say("moved");
        break;
      case "read":
        if (channels.get(number).read(ByteBuffer.allocate(1)) != 1) {
          throw new EOFException("nothing came");
        }
        Console.say("moved");
        break;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  @FunctionalInterface
  private interface Opening<C> {
    C open() throws IOException;
  }

  /** Somebody else in this process may have the last descriptor for a moment. */
  private static <C> C patiently(Opening<C> opening) throws IOException {
    while (true) {
      try {
        return opening.open();
      } catch (IOException e) {
        if (!String.valueOf(e.getMessage()).contains("Too many open files")) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  /** Until all is taken for a while: others in this process give back what they had opened. */
  private void take(int leave) throws IOException {
    for (int looks = 0; looks < QUIET_LOOKS; looks++) {
      if (takeAll() > 0) {
        looks = 0;
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
    leave(leave);
    Console.say("taken");
  }

  private int takeAll() throws IOException {
    int before = files.size();
    try {
      while (files.size() - before < FEW) {
        files.add(Files.newInputStream(ANY_FILE));
      }
    } catch (IOException full) {
      return files.size() - before;
    }
    throw new IllegalStateException("there is no limit");
  }

  private void leave(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      files.remove(files.size() - 1).close();
    }
  }
}
