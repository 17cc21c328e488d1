// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

/**
 * What one check found.
 *
 * @param name what was looked at, in few words
 * @param status how it is
 * @param found what was found, with figures
 * @param hint what to do about it; empty if nothing
 * @param essential whether shared memory on this host does not work without it
 */
public record Finding(String name, Status status, String found, String hint, boolean essential) {
  public static Finding ok(String name, String found) {
    return new Finding(name, Status.OK, found, "", false);
  }

  public static Finding warn(String name, String found, String hint) {
    return new Finding(name, Status.WARN, found, hint, false);
  }

  public static Finding missing(String name, String found, String hint) {
    return new Finding(name, Status.MISSING, found, hint, false);
  }

  /** The same, as something that shared memory cannot do without. */
  public Finding asEssential() {
    return new Finding(name, status, found, hint, true);
  }

  /** Whether shared memory fails for this. */
  public boolean isFatal() {
    return essential && status == Status.MISSING;
  }
}
