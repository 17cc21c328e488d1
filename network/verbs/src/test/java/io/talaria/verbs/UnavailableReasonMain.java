// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.MissingLibraryException;
import io.talaria.verbs.cm.EventChannel;

/** Says in a JVM of its own why verbs and RDMA CM cannot be used: libraries are looked for once. */
final class UnavailableReasonMain {
  private UnavailableReasonMain() {}

  /** Prints a line each; asks twice, because the first answer is remembered. */
  public static void main(String[] args) {
    for (int i = 0; i < 2; i++) {
      System.out.println("verbs: " + Verbs.unavailableReason().orElse("none"));
      System.out.println("rdmacm: " + Verbs.cmUnavailableReason().orElse("none"));
      try {
        EventChannel channel = EventChannel.open();
        channel.close();
      } catch (MissingLibraryException e) {
        System.out.println("channel: " + e.getMessage());
      }
    }
  }
}
