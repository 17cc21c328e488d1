// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Connections, messages and remote memory on RDMA verbs. */
module io.talaria.verbs.net {
  requires transitive io.talaria.verbs;
  requires io.talaria.ffi;
  requires io.talaria.nio;
  requires org.jctools.core;
  requires jdk.net; // a run-time image without it would keep the system's times of keep-alive

  exports io.talaria.verbs.net;
}
