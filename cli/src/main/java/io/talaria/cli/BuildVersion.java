// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into the jar's manifest, and the JVM that runs it. */
final class BuildVersion implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = BuildVersion.class.getPackage().getImplementationVersion();
    return new String[] {
      "talaria " + (version == null ? "(development)" : version), "Java " + Runtime.version(),
    };
  }
}
