// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/**
 * Stands where the base classes of the adaptors want an implementation. The adaptors override
 * everything that would use it, so each call is a defect.
 */
final class NoSocketImpl extends SocketImpl {
  private static AssertionError unreachable() {
    return new AssertionError("a socket adaptor does not use its SocketImpl");
  }

  @Override
  protected void create(boolean stream) {
    throw unreachable();
  }

  @Override
  protected void connect(String host, int port) {
    throw unreachable();
  }

  @Override
  protected void connect(InetAddress address, int port) {
    throw unreachable();
  }

  @Override
  protected void connect(SocketAddress address, int timeout) {
    throw unreachable();
  }

  @Override
  protected void bind(InetAddress host, int port) {
    throw unreachable();
  }

  @Override
  protected void listen(int backlog) {
    throw unreachable();
  }

  @Override
  protected void accept(SocketImpl s) {
    throw unreachable();
  }

  @Override
  protected InputStream getInputStream() {
    throw unreachable();
  }

  @Override
  protected OutputStream getOutputStream() {
    throw unreachable();
  }

  @Override
  protected int available() {
    throw unreachable();
  }

  @Override
  protected void close() {
    throw unreachable();
  }

  @Override
  protected void sendUrgentData(int data) {
    throw unreachable();
  }

  @Override
  public void setOption(int optID, Object value) {
    throw unreachable();
  }

  @Override
  public Object getOption(int optID) {
    throw unreachable();
  }
}
