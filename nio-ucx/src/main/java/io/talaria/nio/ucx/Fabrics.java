// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.ucx.binding.BindingException;

/** Where the provider finds this fabric, by name. */
public final class Fabrics {
  private Fabrics() {}

  /**
   * Why UCX cannot be used in this process, as far as that can be told without loading it.
   *
   * @return nothing, or sentences that say why not, with the cure; the fabric's problem will be the
   *     same
   */
  public static String obstacle() {
    try {
      return Bindings.open().obstacle();
    } catch (BindingException e) {
      return e.getMessage();
    }
  }

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
