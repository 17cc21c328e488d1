// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;

/**
 * The counters file of this process: made, grown and removed here. One thread at a time may call
 * it, and none of the program's: an interrupt would close the file.
 */
final class CountersFile {
  /** Names a file without a header: a reader can tell by the name which process it belongs to. */
  static final char TEMPORARY = 'c';

  private static final int MAX_COPIES = 16;

  private final Path path;
  private final FileChannel channel;
  private int capacity;

  private CountersFile(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Makes the file of this process and its header; the file has no records yet. It gets its name
   * only once it has its header.
   *
   * @throws IOException if that cannot be done; no file is left
   */
  static CountersFile create(Path dir) throws IOException {
    PrivateDirectory.require(dir); // or a file could be swapped for another one under our name
    long pid = ProcFiles.ownPid();
    long startTicks = ProcFiles.startTicks(pid);
    ByteBuffer image = headerImage(pid, startTicks, ProcFiles.pidNamespace(), ProcFiles.bootId());
    Set<? extends OpenOption> options =
        Set.of(
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS);
    Path temporary = dir.resolve(ProcessFileName.of(TEMPORARY, ProcessFileName.nextId()));
    FileChannel channel =
        FileChannel.open(
            temporary,
            options,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Path path = null;
    try {
      writeAll(channel, image, 0);
      path = name(temporary, pid, startTicks);
      Files.delete(temporary);
      return new CountersFile(path, channel);
    } catch (IOException | RuntimeException | Error e) {
      try {
        channel.close();
        Files.deleteIfExists(temporary);
        if (path != null) {
          Files.deleteIfExists(path);
        }
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /**
   * Gives the finished file the name of this process. By a link, because a rename would replace the
   * file of another Talaria in the process.
   */
  private static Path name(Path temporary, long pid, long startTicks) throws IOException {
    for (int copy = 0; ; copy++) {
      Path path = temporary.resolveSibling(CountersLayout.fileName(pid, startTicks, copy));
      try {
        return Files.createLink(path, temporary);
      } catch (FileAlreadyExistsException e) {
        if (copy == MAX_COPIES) {
          throw e;
        }
      }
    }
  }

  Path path() {
    return path;
  }

  /**
   * Maps the header, until the process ends. Not done with the file: the first mapping costs more
   * than all the rest, and a program that makes no channel needs none.
   *
   * @throws IOException if it cannot be mapped
   */
  ByteBuffer mapHeader() throws IOException {
    return Mapping.mapCollected(channel, 0, CountersLayout.HEADER_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  /** How many records the file has room for. */
  int capacity() {
    return capacity;
  }

  /**
   * Adds {@link CountersLayout#CHUNK_RECORDS} records full of zeros. The header's capacity is the
   * caller's to publish.
   *
   * @return the new records, mapped until the process ends
   * @throws IOException if there is no room; the records so far are as before
   */
  ByteBuffer grow() throws IOException {
    long position = CountersLayout.recordOffset(capacity);
    int lengthBytes = CountersLayout.CHUNK_RECORDS * CountersLayout.RECORD_BYTES;
    writeAll(channel, ByteBuffer.allocate(lengthBytes), position);
    ByteBuffer map =
        Mapping.mapCollected(channel, position, lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
    capacity += CountersLayout.CHUNK_RECORDS;
    return map;
  }

  /** Removes the file. What is mapped stays so. */
  void remove() throws IOException {
    try {
      channel.close();
    } finally {
      Files.deleteIfExists(path);
    }
  }

  private static void writeAll(FileChannel channel, ByteBuffer from, long position)
      throws IOException {
    long at = position;
    while (from.hasRemaining()) {
      at += channel.write(from, at);
    }
  }

  private static ByteBuffer headerImage(long pid, long startTicks, long pidNamespace, UUID bootId) {
    ByteBuffer image =
        ByteBuffer.allocate(CountersLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    image.putLong(CountersLayout.H_MAGIC, CountersLayout.MAGIC);
    image.putInt(CountersLayout.H_VERSION, CountersLayout.VERSION);
    image.putInt(CountersLayout.H_HEADER_BYTES, CountersLayout.HEADER_BYTES);
    image.putInt(CountersLayout.H_RECORD_BYTES, CountersLayout.RECORD_BYTES);
    image.putLong(CountersLayout.H_PID, pid);
    image.putLong(CountersLayout.H_START_TICKS, startTicks);
    image.putLong(CountersLayout.H_PID_NAMESPACE, pidNamespace);
    image.putLong(CountersLayout.H_OPENED_AT, System.currentTimeMillis());
    image.putLong(CountersLayout.H_BOOT_ID_UPPER, bootId.getMostSignificantBits());
    image.putLong(CountersLayout.H_BOOT_ID_LOWER, bootId.getLeastSignificantBits());
    CountersLayout.putHeaderText(
        image,
        CountersLayout.H_TALARIA_VERSION,
        CountersLayout.TALARIA_VERSION_BYTES,
        ProgramName.talariaVersion());
    CountersLayout.putHeaderText(
        image,
        CountersLayout.H_JAVA_VERSION,
        CountersLayout.JAVA_VERSION_BYTES,
        System.getProperty("java.vm.name", "")
            + " "
            + System.getProperty("java.runtime.version", ""));
    CountersLayout.putHeaderText(
        image, CountersLayout.H_PROGRAM, CountersLayout.PROGRAM_BYTES, ProgramName.shortName());
    CountersLayout.putHeaderText(
        image, CountersLayout.H_COMMAND, CountersLayout.COMMAND_BYTES, ProgramName.command());
    return image;
  }
}
