// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Properties;
import java.util.function.UnaryOperator;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** What the transport ucx wants before Java 25: JUCX, and an environment for UCX. */
public final class JucxChecks {
  private static final String NAME = "JUCX";
  private static final String CLASS = "org/openucx/jucx/ucp/UcpContext.class";
  private static final String POM = "META-INF/maven/org.openucx/jucx/pom.properties";
  private static final int MIN_MINOR = 15;

  private JucxChecks() {}

  /**
   * Looks at JUCX.
   *
   * @param jar what talaria.jucx names, or null
   * @param environment of this process
   */
  public static Finding jucx(Path jar, UnaryOperator<String> environment) {
    if (jar == null) {
      return Finding.missing(
          NAME,
          "talaria.jucx names none; a program may have its own on its class path",
          "Only talaria.transports=ucx before Java 25 wants it: org.openucx:jucx:1.18.1, by"
              + " -Dtalaria.jucx=FILE.");
    }
    String version = version(jar);
    if (version.isEmpty()) {
      return Finding.missing(
          NAME, jar + " is no JUCX", "Name the jar of org.openucx:jucx:1.18.1 by talaria.jucx.");
    }
    if (tooOld(version)) {
      return Finding.missing(
          NAME, jar + " is " + version + ", which leaks", "Take org.openucx:jucx:1.18.1.");
    }
    return environment.apply("UCX_LOG_FILE") == null
            || environment.apply("UCX_HANDLE_ERRORS") == null
        ? Finding.warn(
            NAME,
            jar + " is " + version + "; this environment lacks what UCX reads from it",
            "Start programs by \"talaria run\", or export UCX_LOG_FILE=stderr UCX_HANDLE_ERRORS=none"
                + " UCX_WARN_UNUSED_ENV_VARS=n UCX_POSIX_ERROR_HANDLING=y.")
        : Finding.ok(NAME, jar + " is " + version + ": used before Java 25");
  }

  /** What a jar says of itself; nothing if it is no JUCX. */
  private static String version(Path jar) {
    try (JarFile file = new JarFile(jar.toFile())) {
      if (file.getEntry(CLASS) == null) {
        return "";
      }
      JarEntry pom = file.getJarEntry(POM);
      if (pom == null) {
        return "of unknown version";
      }
      try (InputStream in = file.getInputStream(pom)) {
        Properties properties = new Properties();
        properties.load(in);
        return properties.getProperty("version", "of unknown version");
      }
    } catch (IOException e) {
      return "";
    }
  }

  private static boolean tooOld(String version) {
    String[] parts = version.split("[.-]");
    try {
      return parts.length > 1
          && Integer.parseInt(parts[0]) <= 1
          && Integer.parseInt(parts[1]) < MIN_MINOR;
    } catch (NumberFormatException e) {
      return false;
    }
  }
}
