// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.Uninterrupted;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Shared memory between processes: files in the job's directory, whose maker is the launcher. A
 * ring's file goes as soon as its reader has it mapped; what is left at the end goes with the
 * directory.
 */
public final class SharedFiles implements RingArea {
  private static final String PAGES = "pages";

  private final Path directory;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment pages;

  /**
   * Maps the pages.
   *
   * @param directory of the job
   * @throws IOException if they cannot be mapped
   */
  public SharedFiles(Path directory) throws IOException {
    this.directory = directory;
    pages = Uninterrupted.call(() -> map(directory.resolve(PAGES), arena));
  }

  /**
   * Makes the pages of a job, for the launcher.
   *
   * @param directory of the job, empty
   * @param ranks in the job
   * @throws IOException if there is no room
   */
  public static void prepare(Path directory, int ranks) throws IOException {
    write(directory.resolve(PAGES), RankPages.bytes(ranks));
  }

  /**
   * What the files of a host may take, if each two of its ranks talk both ways.
   *
   * @param ranks in the job
   * @param ranksHere on the host
   * @param ringBytes of a ring, or 0 where there are none
   * @return bytes, in whole pages
   */
  public static long maxBytes(int ranks, int ranksHere, int ringBytes) {
    long rings = ringBytes == 0 ? 0 : (long) ranksHere * (ranksHere - 1);
    return inPages(RankPages.bytes(ranks)) + rings * inPages(RingLayout.bytes(ringBytes));
  }

  private static long inPages(long bytes) {
    return (bytes + 4095) & -4096L;
  }

  /** Writes zeros, so that a full file system shows here and not as a fault in mapped memory. */
  private static void write(Path file, long bytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(64 * 1024);
      for (long at = 0; at < bytes; ) {
        zeros.position(0).limit((int) Math.min(zeros.capacity(), bytes - at));
        at += channel.write(zeros, at);
      }
    }
  }

  private static MemorySegment map(Path file, Arena arena) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      return channel.map(MapMode.READ_WRITE, 0, channel.size(), arena);
    }
  }

  @Override
  public MemorySegment pages() {
    return pages;
  }

  private Path file(int from, int to) {
    return directory.resolve("ring-" + from + "-" + to);
  }

  /** Leaves nothing behind if it fails: the next message to the peer tries again. */
  private static MemorySegment make(Path file, long bytes, Arena arena) throws IOException {
    try {
      write(file, bytes);
      return map(file, arena);
    } catch (IOException e) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException notDeleted) {
        e.addSuppressed(notDeleted);
      }
      throw e;
    }
  }

  private MemorySegment take(Path file) throws IOException {
    MemorySegment ring = map(file, arena);
    Files.deleteIfExists(file);
    return ring;
  }

  @Override
  public MemorySegment create(int from, int to, long bytes) {
    try {
      return Uninterrupted.call(() -> make(file(from, to), bytes, arena));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "no ring of "
              + bytes
              + " bytes from rank "
              + from
              + " to rank "
              + to
              + " in "
              + directory
              + "; talaria.mpj.ring asks for smaller ones, talaria.mpj.dir for another folder",
          e);
    }
  }

  @Override
  public MemorySegment open(int from, int to) {
    try {
      return Uninterrupted.call(() -> take(file(from, to)));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the ring from rank " + from + " to rank " + to + " in " + directory + " is not there",
          e);
    }
  }

  @Override
  public MemorySegment createShared(String name, long bytes, Arena mapping) throws IOException {
    return Uninterrupted.call(() -> make(directory.resolve(name), bytes, mapping));
  }

  @Override
  public MemorySegment openShared(String name, Arena mapping) throws IOException {
    return Uninterrupted.call(() -> map(directory.resolve(name), mapping));
  }

  @Override
  public void removeShared(String name) {
    try {
      Files.deleteIfExists(directory.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String deviceName() {
    return "shmdev";
  }

  @Override
  public void close() {
    arena.close();
  }
}
