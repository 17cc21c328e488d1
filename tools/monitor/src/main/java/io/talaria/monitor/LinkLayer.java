// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** What kind of link a port has. */
public enum LinkLayer {
  /** InfiniBand. */
  INFINIBAND("InfiniBand"),
  /** RDMA over Converged Ethernet. */
  ROCE("RoCE"),
  /** RDMA over TCP. */
  IWARP("iWARP"),
  /** A network interface without RDMA, or seen without it. */
  ETHERNET("Ethernet"),
  /** An RDMA device whose kernel names none of these. */
  OTHER("other");

  private final String text;

  LinkLayer(String text) {
    this.text = text;
  }

  /**
   * Its name to be displayed.
   *
   * @return for example {@code RoCE}
   */
  public String text() {
    return text;
  }

  /**
   * Its name for machines.
   *
   * @return lower case, for example {@code roce}
   */
  public String code() {
    return text.toLowerCase(java.util.Locale.ROOT);
  }
}
