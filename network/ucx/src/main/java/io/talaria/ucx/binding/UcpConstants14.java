// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

/** The constants of {@code ucp.h} that UCX has from 1.14 on. */
public final class UcpConstants14 {
  public static final long UCP_EP_ATTR_FIELD_TRANSPORTS = 1L << 3;
  public static final long UCP_EP_ATTR_FIELD_USER_DATA = 1L << 4;

  private UcpConstants14() {}
}
