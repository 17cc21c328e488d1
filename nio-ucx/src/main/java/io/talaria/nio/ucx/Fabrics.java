// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.fabric.Fabric;

/** Where the provider finds this fabric, by name. */
public final class Fabrics {
  private Fabrics() {}

  /**
   * The fabric of this process, which may turn out to be unavailable.
   *
   * @param hosts whether it is to reach other hosts, too
   * @return a fabric
   */
  public static Fabric open(boolean hosts) {
    UcxFabric fabric = new UcxFabric(hosts);
    fabric.start();
    return fabric;
  }
}
