// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.transport.FrameTransport;
import java.util.ArrayList;
import java.util.List;

/**
 * What {@code auto} takes between hosts: UCX if each rank has it, else connections. All ranks
 * decide alike, because each decides from the addresses of all ranks: a line with where a rank
 * listens, and behind a bar how UCX reaches it, where UCX is to be taken.
 */
final class Between {
  private static final String BAR = "|";

  private final FrameTransport links;
  private final FrameTransport ucx;

  /**
   * Of both, or of connections alone.
   *
   * @param links the connections
   * @param ucx null where it is not to be taken
   */
  Between(FrameTransport links, FrameTransport ucx) {
    this.links = links;
    this.ucx = ucx;
  }

  String rankAddress() {
    return ucx == null ? links.rankAddress() : links.rankAddress() + BAR + ucx.rankAddress();
  }

  /**
   * Takes one, and closes the other.
   *
   * @param rankAddresses of all ranks
   * @return the transport that all ranks use, which knows the addresses
   */
  FrameTransport choose(List<String> rankAddresses) {
    boolean all =
        ucx != null && rankAddresses.stream().allMatch(rankAddress -> rankAddress.contains(BAR));
    if (!all && ucx != null) {
      ucx.close();
    }
    if (all) {
      links.close();
    }
    FrameTransport taken = all ? ucx : links;
    List<String> parts = new ArrayList<>();
    for (String rankAddress : rankAddresses) {
      parts.add(part(rankAddress, all));
    }
    taken.rankAddresses(parts);
    return taken;
  }

  private static String part(String rankAddress, boolean ofUcx) {
    int bar = rankAddress.indexOf(BAR);
    return ofUcx
        ? rankAddress.substring(bar + 1)
        : bar < 0 ? rankAddress : rankAddress.substring(0, bar);
  }
}
