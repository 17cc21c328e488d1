// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The fabric of the selector provider on UCX. */
module io.talaria.nio.ucx {
  requires io.talaria.ffi;
  requires io.talaria.nio;
  requires io.talaria.ucx;

  exports io.talaria.nio.ucx to
      io.talaria.nio;
}
