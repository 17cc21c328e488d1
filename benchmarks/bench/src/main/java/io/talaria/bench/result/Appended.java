// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Appends to a file all or nothing, so that a full disk leaves no half lines. Without state. */
final class Appended {
  private Appended() {}

  /**
   * Appends.
   *
   * @param file the file, which must exist
   * @param bytes what is appended
   * @throws HarnessException if not all of it could be written
   */
  static void append(Path file, byte[] bytes) throws HarnessException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.APPEND)) {
      long before = channel.size();
      try {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
          channel.write(left);
        }
      } catch (IOException e) {
        channel.truncate(before);
        throw e;
      }
    } catch (IOException e) {
      throw new HarnessException("cannot write " + file + ": " + FileFault.reason(e), e);
    }
  }

  /** Returns whether a file that exists ends in the middle of a line. */
  static boolean endsWithinLine(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer last = ByteBuffer.allocate(1);
      return channel.size() > 0
          && channel.read(last, channel.size() - 1) == 1
          && last.get(0) != '\n';
    }
  }
}
