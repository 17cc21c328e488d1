// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The transport of the selector provider on UCX: its protocol, for whichever binding there is. */
@SuppressWarnings("module") // Those to whom packages are exported may be absent.
module io.talaria.nio.ucx {
  requires io.talaria.nio;

  exports io.talaria.nio.ucx to
      io.talaria.nio;
  exports io.talaria.nio.ucx.binding to
      io.talaria.nio.jucx,
      io.talaria.nio.ucx.ffm;
}
