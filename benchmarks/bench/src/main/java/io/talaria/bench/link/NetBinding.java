// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Connects by {@code java.net}. */
final class NetBinding implements Binding {
  private final Setup setup;
  private ServerSocket listener;
  private Link link;

  NetBinding(Setup setup) {
    this.setup = setup;
  }

  @Override
  public String offer() throws IOException {
    listener = new ServerSocket();
    listener.setSoTimeout(CONNECT_LIMIT_MS);
    listener.bind(new InetSocketAddress(0));
    return Integer.toString(listener.getLocalPort());
  }

  @Override
  public String answer(String offer) throws IOException {
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress(setup.host(), Integer.parseInt(offer)), CONNECT_LIMIT_MS);
    link = new NetLink(socket);
    return "";
  }

  @Override
  public void accept(String answer) throws IOException {
    link = new NetLink(listener.accept());
  }

  @Override
  public Link link() {
    return link;
  }

  @Override
  public void close() throws IOException {
    if (listener != null) {
      listener.close();
    }
  }
}
