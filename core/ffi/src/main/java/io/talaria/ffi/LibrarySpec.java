// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import java.util.List;
import java.util.Objects;

/**
 * What to look for: a native library, where, and what to tell the user if it is not there.
 *
 * @param name what people call the library, such as {@code UCX}
 * @param property the system property that may name the file to load
 * @param fileNames the names to ask the loader for, in this order, if the property is not set
 * @param hint what a user does to get the library; a sentence
 */
public record LibrarySpec(String name, String property, List<String> fileNames, String hint) {
  /** Copies the list. */
  public LibrarySpec {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(property, "property");
    Objects.requireNonNull(hint, "hint");
    fileNames = List.copyOf(fileNames);
    if (fileNames.isEmpty()) {
      throw new IllegalArgumentException("no file names for " + name);
    }
  }
}
