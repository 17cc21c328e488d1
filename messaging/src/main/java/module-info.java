// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Messages and requests between the nodes of a Java cluster. */
module io.talaria.messaging {
  requires io.talaria.nio;
  requires static jdk.jfr;

  exports io.talaria.messaging;
}
