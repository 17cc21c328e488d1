// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.Uninterrupted;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * A rank's link to its launcher, or to that one's agent: lines each way over a Unix-domain socket.
 * When the link ends, so does the rank, because no launcher is left that could clean up behind it.
 */
final class ControlLink implements Opening.Exchange {
  private static final long LOOK_EVERY_NS = 5_000_000;

  private final Path directory;
  private final SocketChannel channel;
  private final Semaphore releases = new Semaphore(0);
  private final CompletableFuture<byte[]> secret = new CompletableFuture<>();
  private final CompletableFuture<List<String>> rankAddresses = new CompletableFuture<>();

  /** Whether the reader, once it has heard something more, no longer waits in the kernel. */
  private volatile boolean finishing;

  private final RankFailures failures = new RankFailures(this::tell);

  ControlLink(Path directory, int rank) throws IOException {
    this.directory = directory;
    Path control = directory.resolve(JobDirectory.CONTROL);
    channel = Uninterrupted.call(() -> SocketChannel.open(UnixDomainSocketAddress.of(control)));
    tell("hello " + rank + " " + ProcessHandle.current().pid());
    Thread reader = new Thread(this::read, "talaria-mpj-control");
    reader.setDaemon(true);
    reader.start();
  }

  private void read() {
    List<String> coming = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(Channels.newReader(new Incoming(), StandardCharsets.UTF_8))) {
      String line;
      while ((line = lines.readLine()) != null) {
        if (line.equals("go")) {
          releases.release();
        } else if (line.equals("addresses")) {
          rankAddresses.complete(coming);
        } else if (line.startsWith("address ")) {
          coming.add(line.substring("address ".length()));
        } else if (line.startsWith("secret ")) {
          secret.complete(HexFormat.of().parseHex(line.substring("secret ".length())));
        } else {
          boolean ignored = failures.heard(line);
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      // The same as its end.
    } catch (RuntimeException | Error e) {
      System.err.println("talaria mpirun: the link of a rank to its launcher failed: " + e);
    }
    JobDirectory.delete(directory);
    Runtime.getRuntime().halt(1);
  }

  /**
   * What the launcher says. A JVM that ends waits 300 ms for a thread that is in the kernel, and
   * for none that is parked; so the reader of a rank that has finished looks now and then.
   */
  private final class Incoming implements ReadableByteChannel {
    @Override
    public int read(ByteBuffer to) throws IOException {
      if (!finishing) {
        return channel.read(to);
      }
      synchronized (channel) {
        channel.configureBlocking(false);
      }
      int read;
      while ((read = channel.read(to)) == 0) {
        LockSupport.parkNanos(LOOK_EVERY_NS);
      }
      return read;
    }

    @Override
    public boolean isOpen() {
      return channel.isOpen();
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** Tells the launcher that this rank finishes, and will say little from now on. */
  void finish() {
    finishing = true;
    tell("finish");
  }

  void tell(String line) {
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
    synchronized (channel) {
      try {
        Uninterrupted.call(() -> write(bytes));
      } catch (IOException e) {
        // The reader sees the end, too.
      }
    }
  }

  private int write(ByteBuffer bytes) throws IOException {
    int written = 0;
    while (bytes.hasRemaining()) {
      int now = channel.write(bytes);
      written += now;
      if (now == 0) {
        LockSupport.parkNanos(LOOK_EVERY_NS); // The launcher is slow to read.
      }
    }
    return written;
  }

  /** What concerns ranks that continue after others have ended. */
  RankFailures failures() {
    return failures;
  }

  /** The job's secret; waits for the launcher. */
  @Override
  public byte[] secret() {
    return secret.join();
  }

  @Override
  public List<String> rankAddresses(String mine) {
    tell("address " + mine);
    return rankAddresses.join();
  }

  /** Whether the launcher has said «go» since the last time. */
  boolean released() {
    return releases.tryAcquire();
  }
}
