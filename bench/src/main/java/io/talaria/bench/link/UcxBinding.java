// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.ucx.Credentials;
import io.talaria.bench.ucx.Side;
import io.talaria.cli.harness.Json;
import io.talaria.ucx.Feature;
import java.io.IOException;
import java.util.function.BiFunction;

/** Connects by UCX's worker addresses: each connection has a context and a worker of its own. */
final class UcxBinding implements Binding {
  static final Feature STREAM = Feature.STREAM;
  static final Feature TAG = Feature.TAG;
  static final Feature MESSAGE = Feature.ACTIVE_MESSAGE;
  static final Feature MEMORY = Feature.RMA;

  private final Setup setup;
  private final Feature feature;
  private final BiFunction<Side, Boolean, Link> maker;
  private Side side;
  private Link link;

  /**
   * Begins a connection.
   *
   * @param setup what it is for
   * @param feature what it needs of UCX
   * @param maker makes the link of a side, of which it is told whether it is the server's
   */
  UcxBinding(Setup setup, Feature feature, BiFunction<Side, Boolean, Link> maker) {
    this.setup = setup;
    this.feature = feature;
    this.maker = maker;
  }

  /** Returns whether there are so many connections that each must leave the core to others. */
  static boolean crowded(Setup setup) {
    return setup.connections() >= Runtime.getRuntime().availableProcessors();
  }

  private String open(boolean server) {
    // A peer that dies is noticed by the parent, which ends this process.
    side =
        Side.open(
            new Side.Needs(feature, setup.largestBytes(), setup.transports(), crowded(setup)),
            () -> {});
    link = maker.apply(side, server);
    return Json.line(side.credentials(feature == MEMORY));
  }

  private void connect(String credentials) throws IOException {
    side.connect(Json.as(Json.parse(credentials), Credentials.class));
  }

  @Override
  public String offer() throws IOException {
    return open(true);
  }

  @Override
  public String answer(String offer) throws IOException {
    String answer = open(false);
    connect(offer);
    return answer;
  }

  @Override
  public void accept(String answer) throws IOException {
    connect(answer);
  }

  @Override
  public Link link() {
    return link;
  }

  @Override
  public void close() {
    // The link closes the side.
  }
}
