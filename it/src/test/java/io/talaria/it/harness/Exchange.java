// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.programs.StreamClient;
import io.talaria.it.programs.StreamServer;
import java.io.IOException;

/**
 * The commonest test: one connection, a few megabytes both ways, and then a look at its mode while
 * it is still open. Confined to the test's thread.
 */
public final class Exchange {
  private static final long BYTES = 6 << 20;

  private final ChildSpec serverSpec;
  private final ChildSpec clientSpec;
  private Child server;
  private Child client;

  /**
   * Describes both sides.
   *
   * @param lab the test's laboratory
   * @param pair what the sides are
   */
  public Exchange(Lab lab, Pair pair) {
    serverSpec = side(lab, pair.server(), StreamServer.class);
    clientSpec = side(lab, pair.client(), StreamClient.class);
  }

  private static ChildSpec side(Lab lab, Flavour flavour, Class<?> program) {
    return lab.child(flavour, program)
        .arg("min", BYTES)
        .arg("max", BYTES)
        .arg("io", "selector")
        .arg("keep", "yes");
  }

  /**
   * The accepting side, to refine before the exchange runs.
   *
   * @return its description
   */
  public ChildSpec serverSpec() {
    return serverSpec;
  }

  /**
   * The connecting side, to refine before the exchange runs.
   *
   * @return its description
   */
  public ChildSpec clientSpec() {
    return clientSpec;
  }

  /**
   * Runs the exchange until all bytes have arrived and been checked; the connection stays open.
   *
   * @return this
   * @throws IOException if a side cannot start
   * @throws InterruptedException if the test's time is up
   */
  public Exchange run() throws IOException, InterruptedException {
    server = serverSpec.start();
    client = clientSpec.arg("port", server.await("listening").port()).start();
    assertThat(server.await("finished").number("received")).isEqualTo(BYTES);
    assertThat(client.await("finished").number("received")).isEqualTo(BYTES);
    return this;
  }

  /**
   * The accepting process.
   *
   * @return the child
   */
  public Child server() {
    return server;
  }

  /**
   * The connecting process.
   *
   * @return the child
   */
  public Child client() {
    return client;
  }

  /**
   * Closes the connection and ends both sides.
   *
   * @throws IOException if a side is gone
   * @throws InterruptedException if the test's time is up
   */
  public void end() throws IOException, InterruptedException {
    server.send("close");
    client.send("close");
    server.await("closed");
    client.await("closed");
    server.stop();
    client.stop();
  }
}
