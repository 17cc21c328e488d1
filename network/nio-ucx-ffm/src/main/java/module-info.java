// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What the transport on UCX needs of UCX, by the Foreign Function and Memory API. */
module io.talaria.nio.ucx.ffm {
  requires io.talaria.ffi;
  requires io.talaria.nio.ucx;
  requires io.talaria.ucx;

  exports io.talaria.nio.ucx.ffm to
      io.talaria.nio.ucx;
}
