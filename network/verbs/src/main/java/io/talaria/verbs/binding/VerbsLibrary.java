// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.ffi.LibrarySpec;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.NativeLibrary;
import java.util.List;

/** The loaded libibverbs. Loaded once, on first use; immutable. */
public final class VerbsLibrary {
  /** The property that may name the file of libibverbs. */
  public static final String PROPERTY = "talaria.verbs.library";

  private static final LibrarySpec SPEC =
      new LibrarySpec(
          "libibverbs",
          PROPERTY,
          List.of("libibverbs.so.1"),
          "Install the packages libibverbs1 and ibverbs-providers (Debian, Ubuntu) or libibverbs"
              + " (Fedora, RHEL) or rdma-core (Arch).");

  private VerbsLibrary() {}

  /**
   * The library.
   *
   * @return libibverbs
   * @throws MissingLibraryException if there is none
   */
  public static NativeLibrary required() {
    if (Holder.LIBRARY == null) {
      throw new MissingLibraryException(Holder.FAILURE.getMessage(), Holder.FAILURE);
    }
    return Holder.LIBRARY;
  }

  /** Loads on first use, and remembers why it failed. */
  private static final class Holder {
    static final NativeLibrary LIBRARY;
    static final MissingLibraryException FAILURE;

    static {
      NativeLibrary library = null;
      MissingLibraryException failure = null;
      try {
        library = NativeLibrary.open(SPEC);
      } catch (MissingLibraryException e) {
        failure = e;
      }
      LIBRARY = library;
      FAILURE = failure;
    }
  }
}
