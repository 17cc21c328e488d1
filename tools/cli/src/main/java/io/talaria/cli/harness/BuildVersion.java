// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into the jar's manifest, and the JVM that runs it. */
public final class BuildVersion implements IVersionProvider {
  /** Creates the provider; picocli asks it. */
  public BuildVersion() {}

  /** Returns Talaria's version, or that it comes from no jar. */
  public static String talaria() {
    String version = BuildVersion.class.getPackage().getImplementationVersion();
    return version == null ? "(development)" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"talaria " + talaria(), "Java " + Runtime.version()};
  }
}
