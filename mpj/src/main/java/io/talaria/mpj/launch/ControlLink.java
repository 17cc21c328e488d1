// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;

/**
 * A rank's link to its launcher: lines each way over a Unix-domain socket. When it ends, so does
 * the rank, because nobody would clean up behind it.
 */
final class ControlLink {
  private final Path directory;
  private final SocketChannel channel;
  private final Semaphore releases = new Semaphore(0);

  ControlLink(Path directory, int rank) throws IOException {
    this.directory = directory;
    channel =
        SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve(JobDirectory.CONTROL)));
    tell("hello " + rank + " " + ProcessHandle.current().pid());
    Thread reader = new Thread(this::read, "talaria-mpj-control");
    reader.setDaemon(true);
    reader.start();
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8))) {
      String line;
      while ((line = lines.readLine()) != null) {
        if (line.equals("go")) {
          releases.release();
        }
      }
    } catch (IOException e) {
      // The same as its end.
    }
    JobDirectory.delete(directory);
    Runtime.getRuntime().halt(1);
  }

  void tell(String line) {
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
    synchronized (channel) {
      try {
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      } catch (IOException e) {
        // The reader sees the end, too.
      }
    }
  }

  /** Whether the launcher has said «go» since the last time. */
  boolean released() {
    return releases.tryAcquire();
  }
}
