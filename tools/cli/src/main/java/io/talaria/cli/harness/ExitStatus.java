// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

/** Exit statuses in addition to success, failure and wrong usage: docs/commands.md has all. */
public final class ExitStatus {
  /** A device, a library or a capability is missing: EX_UNAVAILABLE of sysexits.h. */
  public static final int MISSING = 69;

  private ExitStatus() {}
}
