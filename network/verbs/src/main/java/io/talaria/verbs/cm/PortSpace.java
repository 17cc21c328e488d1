// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.cm;

import io.talaria.verbs.binding.CmConstants;

/** What ports are of, and so what is connected ({@code enum rdma_port_space}). */
public enum PortSpace {
  /** Reliable connections. */
  TCP(CmConstants.RDMA_PS_TCP),
  /** Datagrams. */
  UDP(CmConstants.RDMA_PS_UDP);

  private final int code;

  PortSpace(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }
}
