// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.fabric.binding.FabricConstants;
import java.util.Locale;

/** What a node of a fabric is. */
public enum NodeType {
  /** A host's or a device's channel adapter. */
  ADAPTER,
  /** A switch. */
  SWITCH,
  /** A router to another subnet. */
  ROUTER,
  /** Something else. */
  OTHER;

  /**
   * Its name for machines.
   *
   * @return lower case
   */
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  static NodeType ofNumber(int number) {
    return switch (number) {
      case FabricConstants.IB_NODE_CA -> ADAPTER;
      case FabricConstants.IB_NODE_SWITCH -> SWITCH;
      case FabricConstants.IB_NODE_ROUTER -> ROUTER;
      default -> OTHER;
    };
  }
}
