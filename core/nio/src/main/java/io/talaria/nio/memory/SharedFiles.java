// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import io.talaria.nio.Reason;
import io.talaria.nio.files.EndedOwners;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.process.Descriptors;
import io.talaria.nio.transport.TransportException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The files behind shared memory in the private directory, each by the rules of {@link SharedFile},
 * so that a page that may not exist is never touched; opened only by a number that this class turns
 * into a name. Negotiation thread only, except {@link #removeAll}.
 */
public final class SharedFiles {
  private static final char PREFIX = 'r';
  private static final int CHUNK_BYTES = 1 << 18;

  private final PrivateDirectory directory;
  private final ByteBuffer zeros = ByteBuffer.allocateDirect(CHUNK_BYTES);
  private final Set<Long> named = ConcurrentHashMap.newKeySet();

  public SharedFiles(PrivateDirectory directory) {
    this.directory = directory;
  }

  /** A file that exists, is mapped here, and still has its name. */
  public record Created<T>(long id, T mapping) {}

  @FunctionalInterface
  public interface Mapper<T> {
    T map(FileChannel file, long bytes) throws IOException;
  }

  /** Makes a file of zeros, to be unmapped explicitly. */
  public Created<Mapping> create(int bytes) throws TransportException {
    return create(bytes, Mapping::map);
  }

  /** Makes a file of zeros, to be unmapped by the collector. */
  public Created<ByteBuffer> createCollected(int bytes) throws TransportException {
    return create(bytes, Mapping::mapCollected);
  }

  public <T> Created<T> create(int bytes, Mapper<T> mapper) throws TransportException {
    Path folder = usable();
    long id = ProcessFileName.nextId();
    Path path = path(folder, id);
    try (FileChannel file = directory.create(() -> create(id, path))) {
      SharedFile.fill(file, bytes, zeros);
      return new Created<>(id, map(mapper, file, bytes, path));
    } catch (TransportException e) {
      remove(id);
      throw e;
    } catch (IOException | OutOfMemoryError e) {
      boolean exists = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
      remove(id);
      throw new TransportException(
          exists ? Reason.SHM_FULL : notOpened(e), // not even a name: read-only, or not ours
          "cannot create " + bytes + " bytes in " + folder + ": " + e,
          e);
    }
  }

  private static Reason notOpened(Throwable failure) {
    return Descriptors.ranOut(failure) ? Reason.LIMIT : Reason.NO_SHM_DIR;
  }

  private FileChannel create(long id, Path path) throws IOException {
    named.add(id);
    return SharedFile.create(path);
  }

  /**
   * Maps a file that the peer created, to be unmapped explicitly, and unlinks it.
   *
   * @param peerPid the peer's process id; 0 if it has not said so
   */
  public Mapping open(long id, int bytes, long peerPid) throws TransportException {
    return open(id, bytes, peerPid, Mapping::map);
  }

  /** Maps a file that the peer created, to be unmapped by the collector, and unlinks it. */
  public ByteBuffer openCollected(long id, int bytes, long peerPid) throws TransportException {
    return open(id, bytes, peerPid, Mapping::mapCollected);
  }

  public <T> T open(long id, int bytes, long peerPid, Mapper<T> mapper) throws TransportException {
    Path folder = usable();
    Path path = path(folder, id);
    if (peerPid != 0 && ProcessFileName.pid(id) != peerPid) {
      throw new TransportException(
          Reason.PROTOCOL, path + " is not a file of process " + peerPid + ", which offers it");
    }
    try (FileChannel file = SharedFile.open(path, bytes)) {
      return map(mapper, file, bytes, path);
    } catch (SharedFile.UnexpectedFileException e) {
      throw new TransportException(Reason.PROTOCOL, e.getMessage(), e);
    } catch (NoSuchFileException e) {
      throw new TransportException(
          Reason.OTHER_SHM_DIR,
          path + " does not exist: do both sides use one talaria.shm.dir?",
          e);
    } catch (IOException | OutOfMemoryError e) {
      throw new TransportException(notOpened(e), "cannot open " + path + ": " + e, e);
    } finally {
      SharedFile.unlink(path);
    }
  }

  private static <T> T map(Mapper<T> mapper, FileChannel file, long bytes, Path path)
      throws TransportException {
    try {
      return mapper.map(file, bytes);
    } catch (IOException | OutOfMemoryError e) {
      throw new TransportException(
          Reason.MAP_FAILED, "cannot map " + bytes + " bytes of " + path + ": " + e, e);
    }
  }

  /** Unlinks a file that this process created, if it still has its name. */
  public void remove(long id) {
    if (named.remove(id)) {
      SharedFile.unlink(path(directory.path(), id));
    }
  }

  /**
   * Unlinks all files that this process has created and no peer has mapped, and creates no more.
   * For process exit.
   */
  public void removeAll() {
    directory.close();
    for (Long id : named) {
      remove(id);
    }
    directory.release();
  }

  /** Whether a file that this process created still has its name. */
  public boolean exists(long id) {
    return Files.exists(path(directory.path(), id), LinkOption.NOFOLLOW_LINKS);
  }

  /** Unlinks files of processes that have ended. */
  public void sweep() {
    ProcessFileName.sweep(directory.path(), PREFIX);
    EndedOwners.sweep(directory.path());
  }

  /** Free bytes where the files live; many if there is no limit, as on a tmpfs of size=0. */
  public long usableBytes() {
    File folder = directory.path().toFile();
    long free = folder.getUsableSpace(); // one call of the kernel
    return free == 0 && folder.getTotalSpace() == 0 ? Long.MAX_VALUE : free;
  }

  private Path usable() throws TransportException {
    Reason reason = directory.prepare();
    if (reason != null) {
      throw new TransportException(reason, directory.problem());
    }
    return directory.path();
  }

  /** The name of a file, in whatever directory. */
  public static String name(long id) {
    return ProcessFileName.of(PREFIX, id);
  }

  private static Path path(Path folder, long id) {
    return folder.resolve(name(id));
  }
}
