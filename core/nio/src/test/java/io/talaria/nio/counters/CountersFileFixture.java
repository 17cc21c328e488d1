// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.counters.file.CountersLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Makes counters files as other processes, other versions or enemies would. */
final class CountersFileFixture {
  /** A process id beyond what Linux gives out. */
  static final long NO_PID = (1L << 22) + 7;

  private CountersFileFixture() {}

  /** Copies a counters file, changes the copy, and names it as what its header then says. */
  static Path forge(Path original, Consumer<ByteBuffer> change) throws IOException {
    ByteBuffer bytes = bytes(original);
    change.accept(bytes);
    return write(
        original.resolveSibling(
            CountersLayout.fileName(
                bytes.getLong(CountersLayout.H_PID),
                bytes.getLong(CountersLayout.H_START_TICKS),
                7)),
        bytes);
  }

  static ByteBuffer bytes(Path file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
  }

  static Path write(Path file, ByteBuffer bytes) throws IOException {
    byte[] content = new byte[bytes.capacity()];
    bytes.get(0, content);
    return Files.write(file, content);
  }

  static void setPid(ByteBuffer bytes, long pid) {
    bytes.putLong(CountersLayout.H_PID, pid);
  }
}
