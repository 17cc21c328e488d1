// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.file;

import java.io.IOException;
import java.nio.file.Path;

/** A file is not a counters file, is damaged, or is of another version. */
public final class CountersFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  public CountersFormatException(Path file, String what) {
    super(file + ": " + what);
  }
}
