// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A process with which a file is shared that only the two have, and whose doorbells are opened by
 * its process id: as it tells it itself, so that it must be proved first. Does file work; for one
 * thread.
 *
 * <p>The kernel shows whose id it is: the process has the file mapped. That also covers another
 * process-id namespace, an id that was given to another process, and a process that may not be
 * inspected; then nothing is opened.
 */
public final class PeerProcess {
  /** More of a list of mappings is not read. */
  private static final int MAX_BYTES = 4 << 20;

  private final long pid;
  private final String sharedFile;

  /** Why no doorbell of it can be opened; empty if one can, null if that is not known yet. */
  private String problem;

  /**
   * @param pid what the process says it is; 0 if it has not said
   * @param sharedFile the name that the shared file had when both have mapped it
   */
  public PeerProcess(long pid, String sharedFile) {
    this.pid = pid;
    this.sharedFile = sharedFile;
  }

  /**
   * Opens a doorbell of the process's.
   *
   * @throws IOException if it is not proved that the doorbell is this process's, or it cannot be
   *     opened
   */
  public PeerDoorbell open(DoorbellAddress address) throws IOException {
    if (problem == null) {
      problem = findProblem();
    }
    if (!problem.isEmpty()) {
      throw new IOException(problem);
    }
    return PeerDoorbell.open(pid, address);
  }

  private String findProblem() {
    if (pid <= 0) {
      return "the peer has not sent its process id";
    }
    try {
      Mapping own = find(Path.of("/proc/self/maps"), null);
      if (own == null) {
        return sharedFile + " is not mapped here";
      }
      Path theirs = Path.of("/proc/" + pid + "/maps");
      return find(theirs, own) == null ? theirs + " does not have " + sharedFile : "";
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** A file as a list of mappings names it; not as a file system does, which may differ. */
  private record Mapping(String device, String inode) {}

  /** The mapping of the shared file, or one that is sought; null if there is none. */
  private Mapping find(Path maps, Mapping sought) throws IOException {
    try (InputStream in = Files.newInputStream(maps)) {
      byte[] text = in.readNBytes(MAX_BYTES);
      int from = 0;
      for (int i = 0; i < text.length; i++) {
        if (text[i] == '\n') {
          String line = new String(text, from, i - from, StandardCharsets.ISO_8859_1);
          Mapping found = mapping(line, sought);
          if (found != null) {
            return found;
          }
          from = i + 1;
        }
      }
    }
    return null;
  }

  private Mapping mapping(String line, Mapping sought) {
    if (sought == null && !line.contains(sharedFile)) {
      return null;
    }
    String[] fields = line.split(" +", 6); // addresses, rights, offset, device, inode, path
    if (fields.length < 5 || fields[4].equals("0")) {
      return null;
    }
    Mapping found = new Mapping(fields[3], fields[4]);
    return sought == null || sought.equals(found) ? found : null;
  }
}
