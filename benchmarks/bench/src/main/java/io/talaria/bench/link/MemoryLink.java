// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.util.function.BooleanSupplier;

/** What writing into and reading from the peer's memory share. */
abstract class MemoryLink extends UcxLink {
  MemoryLink(UcxSide side) {
    super(side);
  }

  @Override
  public final boolean oneSided() {
    return true;
  }

  @Override
  public final void access() {
    send();
  }

  @Override
  public final void idle(BooleanSupplier ended) {
    while (!ended.getAsBoolean()) {
      side.spin();
    }
  }
}
