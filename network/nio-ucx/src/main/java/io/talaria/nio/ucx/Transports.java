// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.ucx.binding.BindingException;

/** Where the provider finds this transport, by name. */
public final class Transports {
  private Transports() {}

  /**
   * Why UCX cannot be used in this process, as far as that can be told without loading it.
   *
   * @return nothing, or sentences that say why not, with the hint; the transport's problem will be
   *     the same
   */
  public static String unavailableReason() {
    try {
      return Bindings.open().unavailableReason();
    } catch (BindingException e) {
      return e.getMessage();
    }
  }

  /**
   * The transport of this process, which may turn out to be unavailable.
   *
   * @param hosts whether it is to reach other hosts, too
   * @return a transport
   */
  public static TransportProvider open(boolean hosts) {
    UcxTransport transport = new UcxTransport(hosts);
    transport.start();
    return transport;
  }
}
