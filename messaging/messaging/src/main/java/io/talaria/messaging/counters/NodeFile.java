// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.process.Host;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The counters file of a node, in the run-time directory: one line of JSON. Each write replaces the
 * whole file, so that a reader never sees half a line. For the conductor.
 *
 * <pre>
 *   PID-START-NUMBER.messages     process id, its start in clock ticks since boot, the node
 *   mID                           while it is being written: its name alone says whose it is
 * </pre>
 */
public final class NodeFile {
  private static final Pattern NAME = Pattern.compile("([0-9]+)-([0-9]+)-[0-9]+\\.messages");
  private static final char UNFINISHED = 'm';
  private static final int MAX_BYTES = 8 << 20;

  private final Path path;
  private final Path fresh;
  private String written = "";

  private NodeFile(Path path) {
    this.path = path;
    fresh = path.resolveSibling(ProcessFileName.of(UNFINISHED, ProcessFileName.nextId()));
  }

  /**
   * Creates the object for the file of a node of this process, and removes the files of killed
   * processes. Writes nothing yet.
   *
   * @param number of cluster and node, as in the node's announcement
   * @throws IOException if the directory is not private to this user, or cannot be used
   */
  public static NodeFile of(Path directory, long number) throws IOException {
    PrivateDirectory.require(directory);
    sweep(directory);
    long pid = ProcFiles.ownPid();
    return new NodeFile(
        directory.resolve(pid + "-" + ProcFiles.startTicks(pid) + "-" + number + ".messages"));
  }

  private static void sweep(Path directory) throws IOException {
    ProcessFileName.sweep(directory, UNFINISHED);
    String namespace = namespace();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.messages")) {
      for (Path each : files) {
        Matcher name = NAME.matcher(each.getFileName().toString());
        if (name.matches() && ended(name, each, namespace)) {
          Files.deleteIfExists(each);
        }
      }
    }
  }

  /**
   * Whether the file's process has ended. False for a process of another PID namespace, whose
   * process ids mean nothing here.
   */
  private static boolean ended(Matcher name, Path file, String namespace) {
    try {
      return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
          && Files.size(file) <= MAX_BYTES
          && Files.readString(file).contains(namespace)
          && ProcFiles.startTicks(Long.parseLong(name.group(1))) != Long.parseLong(name.group(2));
    } catch (IOException | NumberFormatException e) {
      return false;
    }
  }

  /** The field of the line that tells the PID namespace of this process. */
  public static String namespace() {
    return "\"namespace\":" + quoted(Host.pidNamespace());
  }

  /** Replaces the content of the file, if it changes. */
  public void write(String line) throws IOException {
    if (line.equals(written)) {
      return;
    }
    Files.deleteIfExists(fresh);
    try (var channel =
        Files.newByteChannel(
            fresh,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(line + "\n");
      while (bytes.hasRemaining()) { // a full file system takes a part, and then throws
        channel.write(bytes);
      }
    }
    Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    written = line;
  }

  /** Removes this file and the files of killed processes. */
  public void remove() {
    try {
      Files.deleteIfExists(fresh);
      Files.deleteIfExists(path);
      sweep(path.getParent());
    } catch (IOException e) {
      // The next node that starts removes it.
    }
  }

  /** Returns a text as a JSON string. */
  public static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      if (each == '"' || each == '\\') {
        quoted.append('\\').append(each);
      } else if (each < ' ' || Character.isSurrogate(each)) {
        quoted.append(String.format("\\u%04x", (int) each));
      } else {
        quoted.append(each);
      }
    }
    return quoted.append('"').toString();
  }
}
