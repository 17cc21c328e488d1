// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.transport.FrameTransport;
import java.util.ArrayList;
import java.util.List;

/**
 * What {@code auto} takes between hosts: the first transport over RDMA that each rank has, else
 * connections. All ranks decide alike, because each decides from the addresses of all ranks, and
 * prefers the transports in the same order. An address is a line with where a rank listens, and
 * behind bars, with their names, how the transports that it would take reach it.
 */
final class Between {
  private static final String BAR = "|";

  private final FrameTransport links;
  private final List<FrameTransport> others;

  /**
   * Of connections, and of what is better.
   *
   * @param links the connections
   * @param others the best first; those of two ranks come in the same order
   */
  Between(FrameTransport links, List<FrameTransport> others) {
    this.links = links;
    this.others = List.copyOf(others);
  }

  String rankAddress() {
    StringBuilder line = new StringBuilder(links.rankAddress());
    for (FrameTransport each : others) {
      line.append(mark(each)).append(each.rankAddress());
    }
    return line.toString();
  }

  private static String mark(FrameTransport transport) {
    return BAR + transport.name() + "=";
  }

  /**
   * Takes one, and closes the others.
   *
   * @param rankAddresses of all ranks
   * @return the transport that all ranks use, which knows the addresses
   */
  FrameTransport choose(List<String> rankAddresses) {
    FrameTransport taken = links;
    for (FrameTransport each : others) {
      if (taken == links && rankAddresses.stream().allMatch(line -> line.contains(mark(each)))) {
        taken = each;
      } else {
        each.close();
      }
    }
    if (taken != links) {
      links.close();
    }
    List<String> parts = new ArrayList<>();
    for (String rankAddress : rankAddresses) {
      String mark = mark(taken);
      parts.add(
          upToBar(
              taken == links
                  ? rankAddress
                  : rankAddress.substring(rankAddress.indexOf(mark) + mark.length())));
    }
    taken.rankAddresses(parts);
    return taken;
  }

  private static String upToBar(String text) {
    int bar = text.indexOf(BAR);
    return bar < 0 ? text : text.substring(0, bar);
  }
}
