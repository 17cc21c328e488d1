// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

/** Both ends of an established connection in one process. */
final class Connection {
  final End client;
  final End server;

  Connection(ShmStream client, ShmStream server) {
    this.client = new End(client);
    this.server = new End(server);
    this.client.other = this.server;
    this.server.other = this.client;
    client.acceptInput();
    server.acceptInput();
    if (!client.established() || !server.established()) {
      throw new AssertionError("both accepted, so the stream is established");
    }
    client.switchOut(0);
    server.switchOut(0);
  }

  void release() {
    client.stream.release();
    server.stream.release();
  }
}
