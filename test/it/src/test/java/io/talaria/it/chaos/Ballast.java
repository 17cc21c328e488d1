// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file that takes all the room there is, again and again. Confined to the test's thread. */
final class Ballast {
  private static final int MIN_SIZE = 4096;

  private final Path file;
  private final ByteBuffer block = ByteBuffer.allocateDirect(1 << 20);
  private FileChannel channel;

  Ballast(Path file) {
    this.file = file;
  }

  boolean aboard() {
    return channel != null;
  }

  /** Takes what room there is now. */
  void take() throws IOException {
    if (channel == null) {
      channel =
          FileChannel.open(
              file,
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE);
    }
    for (int size = block.capacity(); size >= MIN_SIZE; size /= 4) {
      try {
        while (channel.write(block.clear().limit(size)) == size) {
          continue;
        }
      } catch (IOException full) {
        continue; // for this size
      }
    }
  }

  void drop() throws IOException {
    if (channel != null) {
      channel.close();
      channel = null;
    }
  }
}
