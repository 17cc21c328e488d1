// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** UCX from Java, by the Foreign Function and Memory API. */
module io.talaria.ucx {
  requires io.talaria.ffi;

  exports io.talaria.ucx;
}
