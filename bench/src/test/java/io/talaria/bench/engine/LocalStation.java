// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.Pinning;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/** A station in this process. */
public final class LocalStation implements AutoCloseable {
  /** What it wants to hear. */
  public static final String TOKEN = "secret";

  private final Station station;

  /** Opens one whose JVMs run anywhere. */
  public LocalStation() throws IOException {
    this(new JvmStarter("server", Pinning.NONE, null, List.of(), List.of()));
  }

  /** Opens one that starts JVMs in some way. */
  public LocalStation(JvmStarter starter) throws IOException {
    InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    station = new Station(here, starter, TOKEN, "test", line -> {});
    Thread.ofPlatform().daemon().start(station::serve);
  }

  /** Returns its port. */
  public int port() {
    return station.port();
  }

  @Override
  public void close() {
    station.close();
  }
}
