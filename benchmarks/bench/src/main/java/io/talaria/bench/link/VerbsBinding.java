// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.util.function.Function;

/** Connects queue pairs by what each side tells the other: numbers, identifiers and keys. */
final class VerbsBinding implements Binding {
  private final Setup setup;
  private final boolean receives;
  private final Function<VerbsSide, Link> maker;
  private VerbsSide side;
  private Link link;

  /**
   * Begins a connection.
   *
   * @param setup what it is for
   * @param receives whether messages are received
   * @param maker makes the link of a side
   */
  VerbsBinding(Setup setup, boolean receives, Function<VerbsSide, Link> maker) {
    this.setup = setup;
    this.receives = receives;
    this.maker = maker;
  }

  private String open() {
    // A peer that dies is noticed by the parent, which ends this process.
    side = VerbsSide.open(setup.maxBytes(), receives, UcxBinding.crowded(setup));
    link = maker.apply(side);
    return Json.line(side.reach());
  }

  private void connect(String reach) throws IOException {
    side.connect(Json.as(Json.parse(reach), VerbsSide.Reach.class));
  }

  @Override
  public String offer() {
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
