// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

/** A server that runs in a child JVM; closed by {@link Peer}. */
public interface Service extends AutoCloseable {
  /** Returns the port it listens on. */
  int port();

  @Override
  void close();

  /**
   * Returns a service.
   *
   * @param port the port it listens on
   * @param close what ends it
   */
  static Service of(int port, Runnable close) {
    return new Service() {
      @Override
      public int port() {
        return port;
      }

      @Override
      public void close() {
        close.run();
      }
    };
  }
}
