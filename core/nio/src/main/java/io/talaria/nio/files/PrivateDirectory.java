// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import io.talaria.nio.Reason;
import io.talaria.nio.process.Host;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A directory that belongs to this user alone: a real directory, not a link, owned by us, mode
 * 0700. Created if its parent exists. Thread-safe.
 */
public final class PrivateDirectory {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  private static final String EXITING = "this process is exiting";

  private final Path path;
  private final Reason missing;

  /** Whether other process-id namespaces are to see that this process lives. */
  private final boolean shared;

  private volatile String problem;

  /** Guarded by this. */
  private boolean closed;

  /** Written under this. */
  private volatile boolean lockTried;

  /** Guarded by this; null if there is none. */
  private OwnerLock lock;

  /** Makes a file. */
  @FunctionalInterface
  public interface Creation<T> {
    /**
     * Makes it and takes note of it, so that it can be removed at exit.
     *
     * @throws IOException if it cannot be made; then there is none
     */
    T create() throws IOException;
  }

  /**
   * @param path the directory
   * @param missing the reason to report when it cannot be made or used
   */
  public PrivateDirectory(Path path, Reason missing) {
    this(path, missing, false);
  }

  /**
   * One that may be shared with other process-id namespaces.
   *
   * @param shared whether this process shows there that it lives, so that any process can remove
   *     what it has left when it is killed; it then {@linkplain #release releases} it at its end
   */
  public PrivateDirectory(Path path, Reason missing, boolean shared) {
    this.path = path;
    this.missing = missing;
    this.shared = shared;
  }

  /** The directory, whether usable or not. */
  public Path path() {
    return path;
  }

  /** What the last {@link #prepare} found wrong, or null. */
  public String problem() {
    return problem;
  }

  /**
   * Makes the directory if need be and checks it.
   *
   * @return null if it can be used, else the reason, with the detail in {@link #problem}
   */
  public Reason prepare() {
    if (closed()) {
      return refuse(Reason.CLOSED_EARLY, EXITING);
    }
    if (Host.uid() == Host.UNKNOWN_UID) {
      return refuse(Reason.NO_PROC, Host.NO_UID);
    }
    try {
      String insecure = insecure(path, lookOrMake());
      if (insecure != null) {
        return refuse(Reason.INSECURE_DIR, insecure);
      }
      problem = null;
      if (shared && !lockTried) {
        lock();
      }
      return null;
    } catch (IOException | UnsupportedOperationException | SecurityException e) {
      return refuse(missing, path + " cannot be used: " + e);
    }
  }

  /**
   * Checks a directory that must be there.
   *
   * @throws IOException if it cannot be looked at or is not private to this user
   */
  public static void require(Path path) throws IOException {
    String insecure = insecure(path, look(path));
    if (insecure != null) {
      throw new IOException(insecure);
    }
  }

  /**
   * Makes a directory of a name that nobody has yet, private from its beginning.
   *
   * @param parent where; other users may write there
   * @param prefix how its name begins
   * @throws IOException if it cannot be made, or the file system does not keep it private
   */
  public static Path createFresh(Path parent, String prefix) throws IOException {
    Path made =
        Files.createTempDirectory(parent, prefix, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    try {
      require(made);
      return made;
    } catch (IOException e) {
      Files.deleteIfExists(made);
      throw e;
    }
  }

  private static String insecure(Path path, Map<String, Object> found) {
    if (Host.uid() == Host.UNKNOWN_UID) {
      return path + " cannot be distinguished from other users': " + Host.NO_UID;
    }
    if (!found.get("isDirectory").equals(true)) {
      return path + " is not a directory";
    }
    Object owner = found.get("uid");
    if (!owner.equals(Host.uid())) {
      return path + " belongs to user id " + owner + ", this process runs as " + Host.uid();
    }
    Set<?> permissions = (Set<?>) found.get("permissions");
    if (permissions.equals(OWNER_ONLY)) {
      return null;
    }
    boolean shared = permissions.contains(PosixFilePermission.OTHERS_WRITE);
    return path
        + " has mode "
        + PosixFilePermissions.toString(
            permissions.stream()
                .map(PosixFilePermission.class::cast)
                .collect(Collectors.toUnmodifiableSet()))
        + ", not rwx------; "
        + (shared
            ? "it is for all users: name a directory below it, such as " + path.resolve("talaria")
            : "run: chmod 700 " + path);
  }

  /** One system call if the directory is there, as it nearly always is. */
  private Map<String, Object> lookOrMake() throws IOException {
    try {
      return look(path);
    } catch (NoSuchFileException e) {
      try {
        Files.createDirectory(path, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
      } catch (FileAlreadyExistsException somebodyElse) {
        // To be checked like any other.
      }
      return look(path);
    }
  }

  private static Map<String, Object> look(Path path) throws IOException {
    return Files.readAttributes(
        path, "unix:isDirectory,uid,permissions", LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Makes a file here, in a moment; {@link #close} waits for it.
   *
   * @throws IOException if it cannot be made, or no more are made because the process exits
   */
  public synchronized <T> T create(Creation<T> creation) throws IOException {
    if (closed) {
      throw new IOException(EXITING);
    }
    return creation.create();
  }

  /** From now on nothing is made here. For process exit: what exists now is all to be removed. */
  public synchronized void close() {
    closed = true;
  }

  private synchronized void lock() {
    if (!closed && !lockTried) {
      lock = OwnerLock.hold(path);
      lockTried = true;
    }
  }

  /** After {@link #close}, once none of this process's files is left here. */
  public synchronized void release() {
    if (lock != null) {
      lock.release();
      lock = null;
    }
  }

  private synchronized boolean closed() {
    return closed;
  }

  private Reason refuse(Reason reason, String text) {
    problem = text;
    return reason;
  }
}
