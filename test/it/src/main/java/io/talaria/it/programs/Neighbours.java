// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Console;
import io.talaria.it.kit.Endpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One selector with everything in it: accepted connections that it echoes, and in each cycle, at
 * the command {@code cycle N}, a datagram channel, a pipe, a Unix-domain listener and connection,
 * and another TCP listener, each of which gets a few messages and is then cancelled and closed in
 * one of several orders. Says {@code @cycled echoed=...}.
 */
public final class Neighbours {
  private static final int MESSAGES = 20;

  private final Selector selector = Selector.open();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
  private final Path socketFile;
  private final List<SelectableChannel> guests = new ArrayList<>();
  private final List<SelectableChannel> helpers = new ArrayList<>();
  private long echoed;
  private long heard;
  private long accepted;

  private Neighbours(Path dir) throws IOException {
    socketFile = dir.resolve("neighbour");
  }

  /**
   * Runs the program.
   *
   * @param arguments see {@link Endpoint}, and dir=... for a socket
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Neighbours program = new Neighbours(Path.of(args.text("dir", ".")));
          ServerSocketChannel server = Endpoint.listen(args);
          server.configureBlocking(false);
          server.register(program.selector, SelectionKey.OP_ACCEPT);
          program.run();
        });
  }

  private void run() throws IOException, InterruptedException {
    Thread loop = Thread.currentThread();
    List<String> commands = new ArrayList<>();
    Console.daemon(
        "commands",
        () -> {
          while (loop.isAlive()) {
            String command = Console.command();
            synchronized (commands) {
              commands.add(command);
            }
            selector.wakeup();
          }
        });
    while (true) {
      String command;
      synchronized (commands) {
        command = commands.isEmpty() ? "" : commands.remove(0);
      }
      if (command.isEmpty()) {
        turn();
        continue;
      }
      int cycles = Integer.parseInt(command.split(" ")[1]);
      for (int i = 0; i < cycles; i++) {
        cycle(i);
      }
      Console.say("cycled", "echoed", echoed);
    }
  }

  private void turn() throws IOException {
    selector.select();
    for (SelectionKey key : selector.selectedKeys()) {
      if (key.isAcceptable()) {
        accept(key);
      } else if (key.attachment() == null) {
        echo(key);
      } else {
        hear(key);
      }
    }
    selector.selectedKeys().clear();
  }

  private void accept(SelectionKey key) throws IOException {
    SocketChannel channel = ((ServerSocketChannel) key.channel()).accept();
    if (channel == null) {
      throw new IllegalStateException("acceptable, and nobody there");
    }
    channel.configureBlocking(false);
    if (key.attachment() == null) {
      channel.register(selector, SelectionKey.OP_READ);
      return;
    }
    accepted++;
    guests.add(channel);
    channel.register(selector, SelectionKey.OP_READ, "guest");
  }

  private void echo(SelectionKey key) throws IOException {
    SocketChannel channel = (SocketChannel) key.channel();
    buffer.clear();
    if (channel.read(buffer) < 0) {
      channel.close();
      return;
    }
    channel.write(buffer.flip());
    echoed++;
  }

  private void hear(SelectionKey key) throws IOException {
    buffer.clear();
    SelectableChannel channel = key.channel();
    if (channel instanceof DatagramChannel) {
      ((DatagramChannel) channel).receive(buffer);
    } else if (channel instanceof Pipe.SourceChannel) {
      ((Pipe.SourceChannel) channel).read(buffer);
    } else {
      ((SocketChannel) channel).read(buffer);
    }
    if (buffer.position() == 0) {
      throw new IllegalStateException("readable, and nothing to read: " + channel);
    }
    heard += buffer.position();
  }

  private void cycle(int number) throws IOException {
    heard = 0;
    accepted = 0;
    List<WritableByteChannel> mouths = new ArrayList<>();
    mouths.add(openDatagram());
    mouths.add(openPipe());
    mouths.add(openUnix());
    mouths.add(openTcp());
    while (accepted < 2) {
      turn();
    }
    ByteBuffer one = ByteBuffer.allocate(1);
    for (int i = 1; i <= MESSAGES; i++) {
      for (WritableByteChannel mouth : mouths) {
        one.clear();
        mouth.write(one);
      }
      while (heard < (long) i * mouths.size()) {
        turn();
      }
    }
    for (SelectableChannel guest : guests) {
      dismiss(guest, number);
    }
    guests.clear();
    for (SelectableChannel helper : helpers) {
      helper.close();
    }
    helpers.clear();
    selector.selectNow();
    selector.selectedKeys().clear();
    Files.deleteIfExists(socketFile);
  }

  private DatagramChannel openDatagram() throws IOException {
    DatagramChannel receiver = DatagramChannel.open();
    receiver.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    admit(receiver, SelectionKey.OP_READ);
    DatagramChannel sender = DatagramChannel.open();
    sender.connect(receiver.getLocalAddress());
    helpers.add(sender);
    return sender;
  }

  private Pipe.SinkChannel openPipe() throws IOException {
    Pipe pipe = Pipe.open();
    admit(pipe.source(), SelectionKey.OP_READ);
    helpers.add(pipe.sink());
    return pipe.sink();
  }

  private SocketChannel openUnix() throws IOException {
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(socketFile);
    ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(address);
    admit(listener, SelectionKey.OP_ACCEPT);
    SocketChannel client = SocketChannel.open(address);
    helpers.add(client);
    return client;
  }

  private SocketChannel openTcp() throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    admit(listener, SelectionKey.OP_ACCEPT);
    SocketChannel client = SocketChannel.open(listener.getLocalAddress());
    helpers.add(client);
    return client;
  }

  private void admit(SelectableChannel channel, int interest) throws IOException {
    channel.configureBlocking(false);
    channel.register(selector, interest, "guest");
    guests.add(channel);
  }

  private void dismiss(SelectableChannel guest, int number) throws IOException {
    switch (number % 3) {
      case 0:
        guest.close();
        break;
      case 1:
        guest.keyFor(selector).cancel();
        guest.close();
        break;
      default:
        guest.keyFor(selector).cancel();
        selector.selectNow();
        selector.selectedKeys().clear();
        guest.configureBlocking(true);
        guest.close();
        break;
    }
  }
}
