// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.fabric.StreamOwner;

/** A channel that does nothing by itself. */
final class FakeOwner implements StreamOwner {
  @Override
  public boolean ring() {
    return true;
  }

  @Override
  public void woken() {}

  @Override
  public void released() {}

  @Override
  public void stalled() {}

  @Override
  public void buffersChanged(int inBytes, int outBytes) {}
}
