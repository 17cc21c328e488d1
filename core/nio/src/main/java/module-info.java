// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Fast byte streams behind the JDK socket channels: the selector provider of Talaria. */
@SuppressWarnings("module") // Those to whom packages are exported may be absent.
module io.talaria.nio {
  requires static java.management;
  requires static jdk.jfr;
  requires static jdk.net;

  exports io.talaria.nio;
  exports io.talaria.nio.authentication to
      io.talaria.messaging,
      io.talaria.mpj,
      io.talaria.verbs.net;
  exports io.talaria.nio.transport to
      io.talaria.messaging,
      io.talaria.mpj,
      io.talaria.nio.ucx,
      io.talaria.verbs.net;
  exports io.talaria.nio.files to
      io.talaria.messaging,
      io.talaria.mpj;
  exports io.talaria.nio.jdk to
      io.talaria.nio.jucx,
      io.talaria.nio.ucx;
  exports io.talaria.nio.jit to
      io.talaria.mpj;
  exports io.talaria.nio.memory to
      io.talaria.messaging,
      io.talaria.mpj;
  exports io.talaria.nio.process to
      io.talaria.messaging,
      io.talaria.mpj;
  exports io.talaria.nio.spin to
      io.talaria.messaging;
}
