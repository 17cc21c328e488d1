// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import io.talaria.cli.ss.Show;
import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import jdk.net.ExtendedSocketOptions;

/**
 * The run-time directory and the shared-memory directory: not only looked at, but used as a
 * connection would use them. What the checks make there they remove again.
 */
public final class DirectoryChecks {
  private static final long FEW_CONNECTIONS = 64;

  /** So much must be free beside what a new connection takes: ShmTransport.requireRoom. */
  private static final long ROOM_BYTES = 1 << 20;

  private static final int PROBE_BYTES = 4096;
  private static final String PROBE = "doctor-";

  private DirectoryChecks() {}

  public static Finding runtimeDirectory(Surroundings here) {
    PrivateDirectory directory = new PrivateDirectory(here.dir(), Reason.NO_RUNTIME_DIR);
    Reason reason = directory.prepare();
    if (reason != null) {
      return Finding.missing("run-time directory", directory.problem(), reason.hint())
          .asEssential();
    }
    String found = here.dir() + ", this user's alone (0700)";
    try {
      Path probe = here.dir().resolve(PROBE + ProcessHandle.current().pid());
      try {
        Files.write(probe, new byte[PROBE_BYTES], StandardOpenOption.CREATE_NEW);
      } finally {
        Files.deleteIfExists(probe); // a full disk leaves it empty
      }
      return Finding.ok(
              "run-time directory", found + ", on " + Files.getFileStore(here.dir()).type())
          .asEssential();
    } catch (IOException e) {
      if (noRoom(e)) {
        // Announcements are sockets, which find room.
        return Finding.warn(
                "run-time directory",
                here.dir()
                    + " is full: connections are accelerated, but talaria ss does not show them",
                "Make room on its file system, or set talaria.dir to another one.")
            .asEssential();
      }
      return Finding.missing(
              "run-time directory",
              here.dir() + " cannot be written: " + e,
              Reason.NO_RUNTIME_DIR.hint())
          .asEssential();
    }
  }

  private static boolean noRoom(Exception failure) {
    String text = failure.toString();
    return text.contains("No space left") || text.contains("Disk quota exceeded");
  }

  /** Binds a Unix-domain socket, connects to it, and asks the kernel who is at the other end. */
  public static Finding peerCredentials(Surroundings here) {
    Path path = here.dir().resolve(PROBE + ProcessHandle.current().pid() + ".sock");
    try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      listener.bind(UnixDomainSocketAddress.of(path));
      try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path));
          SocketChannel accepted = listener.accept()) {
        String peer = accepted.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
        String server = client.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
        String self = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName();
        return (peer.equals(self) && server.equals(self)
                ? Finding.ok("peer credentials", "the kernel says that the peer is user " + self)
                : Finding.missing(
                    "peer credentials",
                    "the kernel says " + peer + " and " + server + " instead of " + self,
                    "Run without a layer that changes user ids (such as a user-mode kernel)."))
            .asEssential();
      } finally {
        Files.deleteIfExists(path);
      }
    } catch (IOException | RuntimeException | LinkageError e) {
      return Finding.missing(
              "peer credentials",
              "no Unix-domain socket with SO_PEERCRED at " + path + ": " + e,
              "Set talaria.dir to a short path on a local file system; use a Java image with the"
                  + " module jdk.net.")
          .asEssential();
    }
  }

  public static Finding sharedMemory(Surroundings here) {
    PrivateDirectory directory = new PrivateDirectory(here.shmDir(), Reason.NO_SHM_DIR);
    Reason reason = directory.prepare();
    if (reason != null) {
      return Finding.missing("shared memory", directory.problem(), reason.hint()).asEssential();
    }
    try {
      mapAndTouch(here.shmDir().resolve(PROBE + ProcessHandle.current().pid()));
      FileStore store = Files.getFileStore(here.shmDir());
      return room(here, store.type(), store.getTotalSpace(), SystemFiles.freeBytes(store));
    } catch (IOException | RuntimeException e) {
      return Finding.missing(
              "shared memory",
              here.shmDir() + " cannot be used: " + e,
              noRoom(e) ? Reason.SHM_FULL.hint() : Reason.NO_SHM_DIR.hint())
          .asEssential();
    }
  }

  public static Finding room(Surroundings here, String type, long totalBytes, long freeBytes) {
    long connections = Math.max(0, freeBytes - ROOM_BYTES) / here.connectionBytes();
    String found =
        here.shmDir()
            + " on "
            + type
            + ", "
            + (totalBytes == 0
                ? "without a limit: connections of "
                : Show.bytes(freeBytes)
                    + " free of "
                    + Show.bytes(totalBytes)
                    + ": room for "
                    + connections
                    + " connections of ")
            + Show.bytes(here.connectionBytes())
            + ", which grow to "
            + Show.bytes(4096 + 2L * here.ringMaxBytes())
            + " under load";
    Finding finding;
    if (connections == 0) {
      finding = Finding.missing("shared memory", found, Reason.SHM_FULL.hint());
    } else if (connections < FEW_CONNECTIONS) {
      finding = Finding.warn("shared memory", found, Reason.SHM_FULL.hint());
    } else if (!type.equals("tmpfs") && !type.equals("ramfs") && !type.startsWith("hugetlb")) {
      finding =
          Finding.warn(
              "shared memory",
              found,
              "That is no memory file system: set talaria.shm.dir to a directory on a tmpfs.");
    } else {
      finding = Finding.ok("shared memory", found);
    }
    return finding.asEssential();
  }

  private static void mapAndTouch(Path probe) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            probe,
            Set.of(
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS))) {
      ByteBuffer zeros = ByteBuffer.allocate(PROBE_BYTES);
      while (zeros.hasRemaining()) {
        file.write(zeros, zeros.position());
      }
      MappedByteBuffer map = file.map(FileChannel.MapMode.READ_WRITE, 0, PROBE_BYTES);
      map.putLong(0, 42);
      ByteBuffer read = ByteBuffer.allocate(Long.BYTES);
      file.read(read, 0);
      if (read.getLong(0) != 42) {
        throw new IOException("what is written through a mapping is not read from the file");
      }
    } finally {
      Files.deleteIfExists(probe);
    }
  }
}
