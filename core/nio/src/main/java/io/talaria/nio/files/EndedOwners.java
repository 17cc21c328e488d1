// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import io.talaria.nio.files.OwnerLock.ProcessIdentity;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * The processes that hold, or have held, an {@link OwnerLock} in a directory, and which of them
 * have ended. It tells of processes of other process-id namespaces, whose ids say nothing here. A
 * process without such a lock is not known, nor is one of another boot, which may be on another
 * machine. Does file work.
 *
 * <p>Look for files first, and for their owners afterwards: a process has its lock before it makes
 * another file, so the lock of a file that was found is there unless the process has ended.
 */
public final class EndedOwners {
  /**
   * A process numbers its files from a random number on, and its lock comes first. A file whose
   * number is not within so many of the lock's may be another process's.
   */
  private static final long MAX_FILES = 1 << 20;

  private static final long NUMBER_MASK = 0xffff_ffffL;

  private final Set<Owner> ended = new HashSet<>();
  private final Set<Owner> live = new HashSet<>();

  /** The number of a lock, and what it says of its process. */
  private record Owner(long id, ProcessIdentity process) {
    /** Whether a file with this number may be the process's. */
    boolean made(long file) {
      return file >>> Integer.SIZE == id >>> Integer.SIZE
          && ((file - id) & NUMBER_MASK) < MAX_FILES;
    }
  }

  private EndedOwners() {}

  /** Looks at a directory. What cannot be looked at is not known. */
  public static EndedOwners in(Path directory) {
    EndedOwners found = new EndedOwners();
    try {
      List<Path> locks = locks(directory);
      UUID bootId = locks.isEmpty() ? null : ProcFiles.bootId();
      for (Path file : locks) {
        found.look(file, bootId, () -> false);
      }
    } catch (IOException | RuntimeException e) {
      // Nothing is known then.
    }
    return found;
  }

  /** Removes the locks of processes that have ended, if none of their files is left. */
  public static void sweep(Path directory) {
    try {
      List<Path> locks = locks(directory);
      UUID bootId = locks.isEmpty() ? null : ProcFiles.bootId();
      for (Path file : locks) {
        EndedOwners one = new EndedOwners();
        one.look(file, bootId, () -> one.leftNothing(directory));
      }
    } catch (IOException | RuntimeException e) {
      // As above.
    }
  }

  private static List<Path> locks(Path directory) throws IOException {
    List<Path> locks = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        long id = ProcessFileName.id(file.getFileName().toString(), OwnerLock.PREFIX);
        if (id != ProcessFileName.NO_ID && !ProcessFileName.own(id)) { // see OwnerLock
          locks.add(file);
        }
      }
    }
    return locks;
  }

  private interface Removal {
    boolean wanted() throws IOException;
  }

  private void look(Path file, UUID bootId, Removal removal) {
    try (FileChannel channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
      boolean over = channel.tryLock() != null; // closing the channel gives it back
      ByteBuffer text = ByteBuffer.allocate(OwnerLock.BYTES);
      while (text.hasRemaining() && channel.read(text) > 0) {
        // Reads on.
      }
      if (text.flip().limit() < OwnerLock.BYTES) {
        // Its process may be making it. If it was killed then, it has no other file.
        if (over) {
          Files.deleteIfExists(file);
        }
        return;
      }
      ProcessIdentity process = ProcessIdentity.decode(text);
      if (!process.bootId().equals(bootId)) {
        return;
      }
      long id = ProcessFileName.id(file.getFileName().toString());
      (over ? ended : live).add(new Owner(id, process));
      if (over && removal.wanted()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | RuntimeException e) {
      // It does not keep the others.
    }
  }

  /** Whether the process that made a file is known to have ended. */
  boolean ended(long file) {
    return !lives(file) && ended.stream().anyMatch(owner -> owner.made(file));
  }

  /** Whether the process that made a file is known to live. */
  boolean lives(long file) {
    return live.stream().anyMatch(owner -> owner.made(file));
  }

  /** Whether this very process is known to have ended. */
  public boolean ended(long pid, long startTicks, long pidNamespace, UUID bootId) {
    ProcessIdentity process = new ProcessIdentity(pid, startTicks, pidNamespace, bootId);
    return ended.stream().anyMatch(owner -> owner.process().equals(process))
        && live.stream().noneMatch(owner -> owner.process().equals(process));
  }

  private boolean leftNothing(Path directory) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        for (Owner owner : ended) {
          long id = ProcessFileName.id(name);
          boolean lock = name.charAt(0) == OwnerLock.PREFIX;
          ProcessIdentity process = owner.process();
          if ((id != ProcessFileName.NO_ID && !lock && owner.made(id))
              || name.startsWith(process.pid() + "-" + process.startTicks() + ".")
              || name.startsWith(process.pid() + "-" + process.startTicks() + "-")) {
            return false;
          }
        }
      }
    }
    return true;
  }
}
