// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Messages and requests between the nodes of a Java cluster. */
module io.talaria.messaging {
  requires io.talaria.nio;
  requires static io.talaria.ffi;
  requires static io.talaria.ucx;
  requires static io.talaria.verbs;
  requires static jdk.jfr;

  exports io.talaria.messaging;
}
