// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import io.talaria.it.programs.Talk;
import java.io.IOException;

/**
 * The commonest test: one connection, a few megabytes to and fro, and then a look at its transport
 * while it is still in use. Confined to the test's thread.
 */
public final class Exchange {
  private final Pair pair;
  private final ChildSpec serverSpec;
  private final ChildSpec clientSpec;
  private int port;
  private Child server;
  private Child client;

  /**
   * Describes both sides.
   *
   * @param lab the test's laboratory
   * @param pair what the sides are
   */
  public Exchange(Lab lab, Pair pair) {
    this(lab, pair, Talk.class);
  }

  /**
   * Describes both sides.
   *
   * @param lab the test's laboratory
   * @param pair what the sides are
   * @param program what both run: {@link Talk}, or what becomes one
   */
  public Exchange(Lab lab, Pair pair, Class<?> program) {
    this.pair = pair;
    serverSpec = side(lab, pair.server(), program).arg("role", "server").arg("first", "you");
    clientSpec = side(lab, pair.client(), program).arg("first", "me");
  }

  private static ChildSpec side(Lab lab, Flavour flavour, Class<?> program) {
    return lab.child(flavour, program)
        .option("-XX:TieredStopAtLevel=1") // what is soon over is not worth optimizing
        .arg("bytes", 512 << 10)
        .arg("rounds", 6)
        .arg("io", "selector");
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
   * Runs the exchange until a few megabytes have gone each way; the connection stays open.
   *
   * @return this
   * @throws IOException if a side cannot start
   * @throws InterruptedException if the test's time is up
   */
  public Exchange run() throws IOException, InterruptedException {
    server = serverSpec.start();
    port = server.await("listening").port();
    client = clientSpec.arg("port", port).start();
    server.await("talked");
    client.await("talked");
    return this;
  }

  /**
   * Goes on until the connection's transport is what the pair must have.
   *
   * @return this
   * @throws IOException if a side is gone
   * @throws InterruptedException if the test's time is up
   */
  public Exchange expectTransport() throws IOException, InterruptedException {
    Transports.use(pair, server, client, "again", "talked");
    return this;
  }

  /**
   * Goes on once more.
   *
   * @throws IOException if a side is gone
   * @throws InterruptedException if the test's time is up
   */
  public void again() throws IOException, InterruptedException {
    server.send("again");
    client.send("again");
    server.await("talked");
    client.await("talked");
  }

  /**
   * Where the accepting side listens.
   *
   * @return its port
   */
  public int port() {
    return port;
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
   * Goes on once more, closes the connection and ends both sides.
   *
   * @throws IOException if a side is gone
   * @throws InterruptedException if the test's time is up
   */
  public void end() throws IOException, InterruptedException {
    for (String command : new String[] {"again", "end"}) {
      server.send(command);
      client.send(command);
    }
    server.await("ended");
    client.await("ended");
    server.stop();
    client.stop();
  }
}
