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
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A host's ends of the control links of its ranks: passes on what they say. */
final class ControlServer implements AutoCloseable {
  /** How far a rank has come. */
  static final class Progress {
    volatile boolean init;
    volatile boolean finalized;
  }

  private static final long READER_STACK_BYTES = 256 << 10;

  private final ServerSocketChannel server;
  private final Progress[] ranks;
  private final String secret;
  private final Host.Events events;
  private final Map<Integer, SocketChannel> links = new ConcurrentHashMap<>();

  /** Completed when all that a rank has said has been passed on. */
  private final Map<Integer, CompletableFuture<Void>> ends = new ConcurrentHashMap<>();

  ControlServer(Path directory, int size, String secret, Host.Events events) throws IOException {
    this.secret = secret;
    this.events = events;
    ranks = new Progress[size];
    for (int i = 0; i < size; i++) {
      ranks[i] = new Progress();
    }
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(directory.resolve(JobDirectory.CONTROL)), size);
    Thread acceptor = new Thread(this::accept, "talaria-mpj-control");
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
        // Not a virtual thread: their poller never leaves the kernel, and the JVM's end waits for
        // it.
        Thread reader = new Thread(null, () -> read(link), "talaria-mpj-link", READER_STACK_BYTES);
        reader.setDaemon(true);
        reader.start();
      }
    } catch (IOException e) {
      // Closed.
    } catch (RuntimeException | Error e) {
      events.failed("the launcher's control socket failed: " + e);
    }
  }

  private void read(SocketChannel link) {
    Progress rank = null;
    int number = -1;
    CompletableFuture<Void> end = null;
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
          end = end(number);
          events.hello(number, Long.parseLong(words[2]));
          links.put(number, link);
          tell(number, "secret " + secret); // If it has ended, what it has said is still there.
          continue;
        }
        switch (words[0]) {
          case "address" -> events.rankAddress(number, line.substring("address ".length()));
          case "init" -> {
            rank.init = true;
            events.init(number);
          }
          case "finalized" -> {
            rank.finalized = true;
            events.finalized(number);
          }
          case "finish" -> events.finish(number);
          case "abort" -> events.abort(number, Integer.parseInt(words[1]), words[2]);
          default -> events.said(number, line);
        }
      }
    } catch (IOException | RuntimeException e) {
      // The process's end says the rest.
    } catch (Error e) {
      events.failed("the launcher's control link of rank " + number + " failed: " + e);
    } finally {
      if (end != null) {
        end.complete(null);
      }
    }
  }

  private CompletableFuture<Void> end(int rank) {
    return ends.computeIfAbsent(rank, r -> new CompletableFuture<>());
  }

  /**
   * Completed when all that a rank whose process has ended has said has been passed on, or the time
   * has: its end may be seen before the last lines are read, or even the first.
   *
   * @param saidHello whether it has surely said hello; if not, it is waited for only if that has
   *     been read
   */
  CompletableFuture<Void> lastWords(int rank, boolean saidHello, long ms) {
    CompletableFuture<Void> end = saidHello ? end(rank) : ends.get(rank);
    return end == null
        ? CompletableFuture.completedFuture(null)
        : end.completeOnTimeout(null, ms, TimeUnit.MILLISECONDS);
  }

  /** Tells one rank of this host, if it is there. */
  void tell(int rank, String line) {
    SocketChannel link = links.get(rank);
    if (link != null) {
      try {
        tell(link, line);
      } catch (IOException e) {
        // It is ending.
      }
    }
  }

  /** Tells all ranks of this host that are there. */
  void tellAll(String lines) {
    for (SocketChannel link : links.values()) {
      try {
        tell(link, lines);
      } catch (IOException e) {
        // It is ending.
      }
    }
  }

  private static void tell(SocketChannel link, String lines) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap((lines + "\n").getBytes(StandardCharsets.UTF_8));
    synchronized (link) {
      while (bytes.hasRemaining()) {
        link.write(bytes);
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
