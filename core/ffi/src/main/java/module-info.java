// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What native bindings need of the Foreign Function and Memory API: libraries, calls, layouts. */
module io.talaria.ffi {
  exports io.talaria.ffi;
}
