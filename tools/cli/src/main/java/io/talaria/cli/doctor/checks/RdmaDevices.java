// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

/** What is said where there is no RDMA device: by the doctor, and by who would use one. */
public final class RdmaDevices {
  static final String NAME = "RDMA devices";
  static final String NONE = "none in /sys/class/infiniband";
  static final String HINT =
      "Only the fabric between hosts and verbs from Java want one: an InfiniBand or RoCE adapter,"
          + " or software RoCE (rdma link add).";

  private RdmaDevices() {}

  /**
   * The doctor's words in one line.
   *
   * @return a sentence with the hint
   */
  public static String missing() {
    return NAME + ": " + NONE + ". " + HINT;
  }
}
