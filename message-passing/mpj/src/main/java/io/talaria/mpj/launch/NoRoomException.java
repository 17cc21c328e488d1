// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.ring.SharedFiles;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The shared files of a job do not fit where they are to be made. */
final class NoRoomException extends IOException {
  private static final long serialVersionUID = 1;

  private static final double MEBI = 1 << 20;

  private NoRoomException(String message) {
    super(message);
  }

  /**
   * Throws if there is too little room, in bytes or in inodes, for what the files take if each two
   * ranks of the host talk.
   *
   * @param parent where the job's directory is to be made
   * @param ranks of the job
   * @param ranksHere ranks of the host
   * @param ringBytes of a ring; 0 where there are none
   * @throws NoRoomException with what is needed, what there is, and what to do
   * @throws IOException if the file system does not say
   */
  static void check(Path parent, int ranks, int ranksHere, int ringBytes) throws IOException {
    long bytes = SharedFiles.maxBytes(ranks, ranksHere, ringBytes);
    FileStore store = Files.getFileStore(parent);
    long room = store.getUsableSpace();
    // A tmpfs without limit says that it has 0 bytes in all.
    if (store.getTotalSpace() > 0 && room >= 0 && room < bytes) {
      throw new NoRoomException(
          String.format(
              Locale.ROOT,
              "the shared files of %d ranks may take %.1f MiB, and %s has room for %.1f: start"
                  + " fewer ranks a host%s, or have the files elsewhere (talaria.mpj.dir)",
              ranksHere,
              bytes / MEBI,
              parent,
              room / MEBI,
              ringBytes == 0 ? "" : ", or smaller rings (talaria.mpj.ring=" + ringBytes + ")"));
    }
    long files = JobDirectory.FILES + SharedFiles.maxFiles(ranksHere, ringBytes);
    long inodes = Inodes.free(parent);
    if (inodes < files) {
      throw new NoRoomException(
          String.format(
              Locale.ROOT,
              "%d ranks may need %d shared files, and %s has inodes for %d (df -i %s): start fewer"
                  + " ranks a host, or have the files elsewhere (talaria.mpj.dir)",
              ranksHere,
              files,
              parent,
              inodes,
              parent));
    }
  }
}
