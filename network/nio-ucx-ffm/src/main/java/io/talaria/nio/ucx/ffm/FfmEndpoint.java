// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.ffm;

import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.Received;
import io.talaria.ucx.Endpoint;
import java.util.List;

/** An endpoint of the module {@code ucx}. */
final class FfmEndpoint implements BoundEndpoint {
  private final Endpoint endpoint;

  FfmEndpoint(Endpoint endpoint) {
    this.endpoint = endpoint;
  }

  @Override
  public boolean isOpen() {
    return endpoint.isOpen();
  }

  @Override
  public long sendStream(Block block, int length) {
    return endpoint.sendStream(((FfmBlock) block).memory, 0, length, 0);
  }

  @Override
  public long receiveStream(Received place) {
    return endpoint.receiveStream(((FfmReceived) place).chunk);
  }

  @Override
  public long sendTag(Block block, int length, long tag) {
    return endpoint.sendTag(((FfmBlock) block).memory, 0, length, tag, 0);
  }

  @Override
  public List<String> transports() {
    return endpoint.transports();
  }

  @Override
  public long flush() {
    return endpoint.flush();
  }

  @Override
  public long closeForced() {
    return endpoint.closeForced();
  }
}
