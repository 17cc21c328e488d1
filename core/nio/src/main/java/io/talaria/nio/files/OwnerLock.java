// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Shows every process-id namespace that this process lives: a file {@code oID} in a private
 * directory that it keeps locked. The kernel releases the lock when the process ends, however it
 * ends, so that {@link EndedOwners} can tell.
 *
 * <p>It is a lock of the whole process (fcntl): closing any descriptor of the file in this process
 * releases it. So no file of this process's own is opened a second time, and no other file serves
 * as the lock.
 */
final class OwnerLock {
  static final char PREFIX = 'o';

  /** What the file says of its process, in this order, big-endian. */
  static final int BYTES = 5 * Long.BYTES;

  private static final int MAX_TRIES = 8;

  /** The collector would close what nothing refers to. */
  private static final Set<OwnerLock> HELD = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel channel;

  private OwnerLock(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Makes and locks a file.
   *
   * @return null if that cannot be done: then other namespaces leave this process's files alone
   */
  static OwnerLock hold(Path directory) {
    try {
      byte[] text = ProcessIdentity.own().encoded();
      for (int i = 0; i < MAX_TRIES; i++) {
        OwnerLock lock = tryOnce(directory, text);
        if (lock != null) {
          HELD.add(lock);
          return lock;
        }
      }
      return null;
    } catch (IOException | RuntimeException e) {
      return null; // a file system without locks, for example
    }
  }

  /** Null if another process has taken it for one that was left, before it was locked. */
  private static OwnerLock tryOnce(Path directory, byte[] text) throws IOException {
    Path path = directory.resolve(ProcessFileName.of(PREFIX, ProcessFileName.nextId()));
    FileChannel channel =
        FileChannel.open(
            path,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    boolean held = false;
    try {
      // A sweep removes the file only while it holds the lock: so it stays once we hold that.
      if (channel.tryLock() == null || !Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        return null;
      }
      channel.write(ByteBuffer.wrap(text));
      held = true;
      return new OwnerLock(path, channel);
    } catch (OverlappingFileLockException e) {
      throw new IOException("locked by this process already", e);
    } finally {
      if (!held) {
        channel.close();
        Files.deleteIfExists(path);
      }
    }
  }

  /** Ends it, once no file of this process is left in the directory. */
  void release() {
    HELD.remove(this);
    try {
      Files.deleteIfExists(path);
      channel.close();
    } catch (IOException | RuntimeException e) {
      // The next process removes it.
    }
  }

  /**
   * Which process it is, in whatever process-id namespace.
   *
   * @param startTicks when it started, in clock ticks since boot
   */
  record ProcessIdentity(long pid, long startTicks, long pidNamespace, UUID bootId) {
    static ProcessIdentity own() throws IOException {
      long pid = ProcFiles.ownPid();
      return new ProcessIdentity(
          pid, ProcFiles.startTicks(pid), ProcFiles.pidNamespace(), ProcFiles.bootId());
    }

    byte[] encoded() {
      return ByteBuffer.allocate(BYTES)
          .putLong(bootId.getMostSignificantBits())
          .putLong(bootId.getLeastSignificantBits())
          .putLong(pidNamespace)
          .putLong(pid)
          .putLong(startTicks)
          .array();
    }

    static ProcessIdentity decode(ByteBuffer from) {
      UUID bootId = new UUID(from.getLong(), from.getLong());
      long pidNamespace = from.getLong();
      return new ProcessIdentity(from.getLong(), from.getLong(), pidNamespace, bootId);
    }
  }
}
