// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory;

/** The version that the build wrote into the jar's manifest. */
final class Versions {
  private Versions() {}

  static String talaria() {
    String version = Versions.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
