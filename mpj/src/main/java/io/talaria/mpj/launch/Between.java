// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.ways.Ways;
import java.util.ArrayList;
import java.util.List;

/**
 * What {@code auto} takes between hosts: UCX if each rank has it, else connections. All ranks
 * decide alike, because each decides from the cards of all: a line with where a rank listens, and
 * behind a bar how UCX reaches it, where UCX is to be taken.
 */
final class Between {
  private static final String BAR = "|";

  private final Ways links;
  private final Ways ucx;

  /**
   * Of both, or of connections alone.
   *
   * @param links the connections
   * @param ucx null where it is not to be taken
   */
  Between(Ways links, Ways ucx) {
    this.links = links;
    this.ucx = ucx;
  }

  String card() {
    return ucx == null ? links.card() : links.card() + BAR + ucx.card();
  }

  /**
   * Takes one, and closes the other.
   *
   * @param cards of all ranks
   * @return the ways that all take, which know the cards
   */
  Ways choose(List<String> cards) {
    boolean all = ucx != null && cards.stream().allMatch(card -> card.contains(BAR));
    if (!all && ucx != null) {
      ucx.close();
    }
    if (all) {
      links.close();
    }
    Ways taken = all ? ucx : links;
    List<String> parts = new ArrayList<>();
    for (String card : cards) {
      parts.add(part(card, all));
    }
    taken.cards(parts);
    return taken;
  }

  private static String part(String card, boolean ofUcx) {
    int bar = card.indexOf(BAR);
    return ofUcx ? card.substring(bar + 1) : bar < 0 ? card : card.substring(0, bar);
  }
}
