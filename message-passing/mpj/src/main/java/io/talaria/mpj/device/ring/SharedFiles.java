// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.Uninterrupted;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.memory.SharedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;

/**
 * Shared memory between processes: files in the job's directory, whose maker is the launcher, by
 * nio's rules for private directories and shared files. A ring's file goes as soon as its reader
 * has it mapped; what is left at the end goes with the directory.
 */
public final class SharedFiles implements RingArea {
  private static final String PAGES = "pages";
  private static final int CHUNK_BYTES = 64 * 1024;

  private final Path directory;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment pages;

  /**
   * Maps the pages.
   *
   * @param directory of the job
   * @throws IOException if they cannot be mapped, or the directory is not private to this user
   */
  public SharedFiles(Path directory) throws IOException {
    this.directory = directory;
    pages = Uninterrupted.call(this::mapPages);
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
    return inPages(RankPages.bytes(ranks))
        + rings(ranksHere, ringBytes) * inPages(RingLayout.bytes(ringBytes));
  }

  /**
   * How many files a host may have, if each two of its ranks talk both ways. A ring keeps its inode
   * as long as it is mapped, also without a name.
   *
   * @param ranksHere on the host
   * @param ringBytes of a ring, or 0 where there are none
   */
  public static long maxFiles(int ranksHere, int ringBytes) {
    return 1 + rings(ranksHere, ringBytes);
  }

  private static long rings(int ranksHere, int ringBytes) {
    return ringBytes == 0 ? 0 : (long) ranksHere * (ranksHere - 1);
  }

  private static long inPages(long bytes) {
    return (bytes + 4095) & -4096L;
  }

  private MemorySegment mapPages() throws IOException {
    PrivateDirectory.require(directory);
    return map(directory.resolve(PAGES), RankPages.bytes(1), arena);
  }

  private static void write(Path path, long bytes) throws IOException {
    try (FileChannel file = SharedFile.create(path)) {
      SharedFile.fill(file, bytes, ByteBuffer.allocateDirect(CHUNK_BYTES));
    }
  }

  private static MemorySegment map(Path path, long minBytes, Arena mapping) throws IOException {
    try (FileChannel file = SharedFile.open(path, minBytes)) {
      return file.map(MapMode.READ_WRITE, 0, file.size(), mapping);
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
  private static MemorySegment make(Path path, long bytes, Arena mapping) throws IOException {
    try (FileChannel file = SharedFile.create(path)) {
      SharedFile.fill(file, bytes, ByteBuffer.allocateDirect(CHUNK_BYTES));
      return file.map(MapMode.READ_WRITE, 0, bytes, mapping);
    } catch (IOException e) {
      SharedFile.unlink(path);
      throw e;
    }
  }

  private MemorySegment take(Path path) throws IOException {
    MemorySegment ring = map(path, RingLayout.bytes(RankRings.MIN_CAPACITY), arena);
    SharedFile.unlink(path);
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
    return Uninterrupted.call(() -> map(directory.resolve(name), 1, mapping));
  }

  @Override
  public void removeShared(String name) {
    SharedFile.unlink(directory.resolve(name));
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
