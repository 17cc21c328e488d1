// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.MissingLibraryException;
import io.talaria.ucx.transport.OwnedWorker;
import java.io.IOException;
import java.util.Map;

/** Says in which words each entry to UCX refuses, one line each. */
final class UnavailableReasonMain {
  private UnavailableReasonMain() {}

  public static void main(String[] args) {
    try (OwnedWorker worker =
        OwnedWorker.open(Context.Options.of(Feature.STREAM), Map.of(), OwnedWorker.Deaths.TOLD)) {
      System.out.println("open: " + worker);
    } catch (IOException e) {
      System.out.println("open: " + e.getMessage());
    }
    System.out.println("reason: " + Ucx.unavailableReason().orElse("none"));
    try {
      System.out.println("text: " + Status.text(Status.BUSY));
    } catch (MissingLibraryException e) {
      System.out.println("text: " + e.getMessage());
    }
  }
}
