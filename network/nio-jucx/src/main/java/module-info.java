// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What the transport on UCX needs of UCX, by JUCX: the binding for Java 17 to 24. */
@SuppressWarnings("requires-automatic") // JUCX has no module descriptor.
module io.talaria.nio.jucx {
  requires io.talaria.nio;
  requires io.talaria.nio.ucx;
  requires static jucx;

  exports io.talaria.nio.jucx to
      io.talaria.nio.ucx;
}
