// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

import io.talaria.ffi.MissingSymbolException;
import io.talaria.ffi.NativeLibrary;
import java.lang.foreign.MemorySegment;

/**
 * A function of a library, or none where the library lacks it.
 *
 * @param name its name in C
 * @param library what was searched
 * @param place its address, or null
 */
record CFunction(String name, NativeLibrary library, MemorySegment place) {
  static CFunction of(NativeLibrary library, String name) {
    return new CFunction(name, library, library.find(name).orElse(null));
  }

  MemorySegment address() {
    if (place == null) {
      throw new MissingSymbolException(library.toString(), name);
    }
    return place;
  }
}
