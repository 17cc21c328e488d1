// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.plan.BindingKind;
import io.talaria.cli.harness.Json;
import io.talaria.ucx.Context;
import io.talaria.ucx.Feature;
import java.io.IOException;

/** Connects by UCX's worker addresses: each connection has a context and a worker of its own. */
final class UcxBinding implements Binding {
  private final BindingKind kind;
  private final Setup setup;
  private UcxSide side;
  private Link link;

  /**
   * Begins a connection.
   *
   * @param kind which of the ways to communicate by UCX
   * @param setup what it is for
   */
  UcxBinding(BindingKind kind, Setup setup) {
    this.kind = kind;
    this.setup = setup;
  }

  /** Returns whether there are so many connections that each must leave the core to others. */
  static boolean crowded(Setup setup) {
    return !setup.spins() && setup.connections() >= Runtime.getRuntime().availableProcessors();
  }

  private Context.Options features() {
    return switch (kind) {
      case UCX_TAG, UCX_TAG_SYNC -> Context.Options.of(Feature.TAG);
      case UCX_STREAM, UCX_STREAM_DATA -> Context.Options.of(Feature.STREAM);
      case UCX_AM -> Context.Options.of(Feature.ACTIVE_MESSAGE);
      case UCX_PUT, UCX_GET -> Context.Options.of(Feature.RMA);
      default -> Context.Options.of(Feature.ATOMIC_32, Feature.ATOMIC_64);
    };
  }

  private Link make() {
    return switch (kind) {
      case UCX_TAG -> new TagLink(side, false);
      case UCX_TAG_SYNC -> new TagLink(side, true);
      case UCX_STREAM -> new StreamLink(side);
      case UCX_STREAM_DATA -> new StreamDataLink(side);
      case UCX_AM -> new MessageLink(side);
      case UCX_PUT -> new PutLink(side);
      case UCX_GET -> new GetLink(side);
      default -> new AtomicLink(side, kind);
    };
  }

  private String open() {
    // A peer that dies is noticed by the parent, which ends this process.
    side =
        UcxSide.open(
            new UcxSide.Needs(features(), setup.maxBytes(), setup.transports(), crowded(setup)));
    link = make();
    return Json.line(side.reach(kind.oneSided()));
  }

  private void connect(String reach) throws IOException {
    side.connect(Json.as(Json.parse(reach), UcxSide.Reach.class));
  }

  @Override
  public String offer() throws IOException {
    return open();
  }

  @Override
  public String answer(String offer) throws IOException {
    String answer = open();
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
