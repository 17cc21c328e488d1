// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** UCX from Java, by the Foreign Function and Memory API. */
@SuppressWarnings("module") // Those to whom a package is exported may be absent.
module io.talaria.ucx {
  requires io.talaria.ffi;

  exports io.talaria.ucx;
  exports io.talaria.ucx.transport to
      io.talaria.messaging,
      io.talaria.mpj;
}
