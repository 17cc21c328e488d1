// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
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
   * Throws if there is too little room.
   *
   * @param directory of the job
   * @param bytes that the files take if each two ranks of the host talk
   * @param ranksHere ranks of the host
   * @param ringBytes of a ring; 0 where there are none
   * @throws NoRoomException with what is needed, what there is, and what to do
   * @throws IOException if the file system does not say
   */
  static void check(Path directory, long bytes, int ranksHere, int ringBytes) throws IOException {
    long room = Files.getFileStore(directory).getUsableSpace();
    if (room >= 0 && room < bytes) {
      throw new NoRoomException(
          String.format(
              Locale.ROOT,
              "the shared files of %d ranks may take %.1f MiB, and %s has room for %.1f: start"
                  + " fewer ranks a host%s, or have the files elsewhere (talaria.mpj.dir)",
              ranksHere,
              bytes / MEBI,
              directory.getParent(),
              room / MEBI,
              ringBytes == 0 ? "" : ", or smaller rings (talaria.mpj.ring=" + ringBytes + ")"));
    }
  }
}
