// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The launcher's ends of all control links: counts who has come how far, and opens the last gate.
 */
final class ControlServer implements AutoCloseable {
  /** How far a rank has come. */
  static final class Progress {
    volatile boolean hello;
    volatile boolean init;
    volatile boolean finalized;
  }

  /** What a rank asked the launcher for. */
  interface AbortListener {
    void abort(int rank, int status, String why);
  }

  private final ServerSocketChannel server;
  private final Progress[] ranks;
  private final AbortListener listener;
  private final List<SocketChannel> atTheEnd = new ArrayList<>();

  ControlServer(Path directory, int size, AbortListener listener) throws IOException {
    this.listener = listener;
    ranks = new Progress[size];
    for (int i = 0; i < size; i++) {
      ranks[i] = new Progress();
    }
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(directory.resolve(JobDirectory.CONTROL)), size);
    Thread acceptor = new Thread(this::accept, "talaria-mpj-accept");
    acceptor.setDaemon(true);
    acceptor.start();
  }

  Progress rank(int rank) {
    return ranks[rank];
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel link = server.accept();
        Thread.ofVirtual().start(() -> read(link));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void read(SocketChannel link) {
    Progress rank = null;
    int number = -1;
    try (BufferedReader lines =
        new BufferedReader(Channels.newReader(link, StandardCharsets.UTF_8))) {
      String line;
      while ((line = lines.readLine()) != null) {
        String[] words = line.split(" ", 3);
        if (rank == null) {
          number = words[0].equals("hello") ? Integer.parseInt(words[1]) : -1;
          if (number < 0 || number >= ranks.length) {
            return; // Not one of ours.
          }
          rank = ranks[number];
          rank.hello = true;
          continue;
        }
        switch (words[0]) {
          case "init" -> rank.init = true;
          case "finalized" -> rank.finalized = true;
          case "finish" -> atTheEnd(link);
          case "abort" -> listener.abort(number, Integer.parseInt(words[1]), words[2]);
          default -> {}
        }
      }
    } catch (IOException | RuntimeException e) {
      // The process's end says the rest.
    }
  }

  private synchronized void atTheEnd(SocketChannel link) throws IOException {
    atTheEnd.add(link);
    if (atTheEnd.size() == ranks.length) {
      for (SocketChannel each : atTheEnd) {
        ByteBuffer go = ByteBuffer.wrap("go\n".getBytes(StandardCharsets.UTF_8));
        while (go.hasRemaining()) {
          each.write(go);
        }
      }
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      // Nothing more to do with it.
    }
  }
}
