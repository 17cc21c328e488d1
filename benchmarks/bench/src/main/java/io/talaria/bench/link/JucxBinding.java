// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;
import java.util.Base64;

/** Connects JUCX by worker addresses. */
final class JucxBinding implements Binding {
  private final Setup setup;
  private JucxLink link;

  JucxBinding(Setup setup) {
    this.setup = setup;
  }

  @Override
  public String offer() throws IOException {
    link = new JucxLink(setup, UcxBinding.crowded(setup));
    return Base64.getEncoder().encodeToString(link.address());
  }

  @Override
  public String answer(String offer) throws IOException {
    String answer = offer();
    accept(offer);
    return answer;
  }

  @Override
  public void accept(String answer) throws IOException {
    link.connect(Base64.getDecoder().decode(answer));
  }

  @Override
  public Link link() {
    return link;
  }

  @Override
  public void close() {
    // The link closes what it has.
  }
}
