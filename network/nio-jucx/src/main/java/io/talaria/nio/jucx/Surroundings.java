// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.List;
import java.util.Properties;
import java.util.function.UnaryOperator;

/** Whether JUCX can be used in this process; names its classes, but starts none of them. */
final class Surroundings {
  private static final String CONTEXT = "org/openucx/jucx/ucp/UcpContext.class";
  private static final String WORKER = "org.openucx.jucx.ucp.UcpWorker";
  private static final String POM = "META-INF/maven/org.openucx/jucx/pom.properties";
  private static final String UNKNOWN = "of unknown version";
  private static final int MIN_MINOR = 15;

  private static final String GET_IT =
      "Put org.openucx:jucx:1.18.1 on the class path, or name its file by"
          + " -Dtalaria.jucx=/path/to/jucx-1.18.1.jar.";

  /** What shared memory is called in {@code UCX_TLS}. */
  private static final List<String> SHARED_MEMORY = List.of("all", "posix", "shm", "sm", "mm");

  private final ClassLoader loader;
  private final UnaryOperator<String> environment;
  private final UnaryOperator<String> properties;
  private String version = UNKNOWN;

  Surroundings(
      ClassLoader loader, UnaryOperator<String> environment, UnaryOperator<String> properties) {
    this.loader = loader;
    this.environment = environment;
    this.properties = properties;
  }

  /** The release of JUCX, once {@link #unavailableReason} has found it. */
  String version() {
    return version;
  }

  /** Why JUCX cannot be used, with the hint; nothing if it may be tried. */
  String unavailableReason() {
    if (loader == null) {
      return "talaria.jar is on the boot class path, which does not lead to JUCX: start without"
          + " -Xbootclasspath/a.";
    }
    URL found = loader.getResource(CONTEXT);
    if (found == null) {
      return "JUCX is not there. " + GET_IT;
    }
    version = release(found);
    if (tooOld()) {
      return "JUCX "
          + version
          + " is too old: 1.12.1 keeps every request for ever and cannot announce sleep; 1.15.0 is"
          + " the least. "
          + GET_IT;
    }
    String architecture = properties.apply("os.arch");
    String library = System.mapLibraryName("jucx_" + architecture);
    if (loader.getResource(library) == null && !onLibraryPath(library)) {
      return "JUCX " + version + " has no native part (" + library + ") for this processor.";
    }
    return environmentUnavailableReason();
  }

  /**
   * UCX logs to standard output, which is the program's, and Java cannot set what UCX reads from
   * the environment.
   */
  private String environmentUnavailableReason() {
    if (environment.apply("UCX_LOG_FILE") == null) {
      return "UCX would log to standard output, because UCX_LOG_FILE is not in the environment:"
          + " start by \"talaria run\", or export UCX_LOG_FILE=stderr UCX_HANDLE_ERRORS=none"
          + " UCX_WARN_UNUSED_ENV_VARS=n UCX_POSIX_ERROR_HANDLING=y.";
    }
    if (catchesSignals()) {
      return "UCX would catch a signal by which the JVM stops its threads, and end the process,"
          + " because UCX_HANDLE_ERRORS=none is not in the environment: start by \"talaria run\","
          + " or export UCX_HANDLE_ERRORS=none.";
    }
    if (environment.apply("UCX_POSIX_ERROR_HANDLING") == null && usesSharedMemory()) {
      return "UCX's shared memory finds no dead peer, because UCX_POSIX_ERROR_HANDLING is not in"
          + " the environment: start by \"talaria run\", or export UCX_POSIX_ERROR_HANDLING=y.";
    }
    return "";
  }

  /** JUCX has UCX let go of them once it is loaded; until then a safepoint would be the end. */
  private boolean catchesSignals() {
    String signals = environment.apply("UCX_ERROR_SIGNALS");
    return !"none".equals(environment.apply("UCX_HANDLE_ERRORS"))
        && (signals == null || !signals.isBlank());
  }

  private boolean usesSharedMemory() {
    String transports = environment.apply("UCX_TLS");
    if (transports == null || transports.startsWith("^")) {
      return true;
    }
    for (String each : transports.split(",")) {
      if (SHARED_MEMORY.contains(each.trim())) {
        return true;
      }
    }
    return false;
  }

  private boolean onLibraryPath(String library) {
    String path = properties.apply("java.library.path");
    if (path != null) {
      for (String directory : path.split(":")) {
        if (new File(directory, library).isFile()) {
          return true;
        }
      }
    }
    return false;
  }

  /** What the jar says in which the class is; a jar made of several may have lost it. */
  private static String release(URL found) {
    String place = found.toString();
    String root = place.substring(0, place.length() - CONTEXT.length());
    try (InputStream in = new URL(root + POM).openStream()) {
      Properties pom = new Properties();
      pom.load(in);
      return pom.getProperty("version", UNKNOWN);
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  private boolean tooOld() {
    if (version.equals(UNKNOWN)) {
      return !announcesSleep();
    }
    String[] parts = version.split("[.-]");
    try {
      int major = Integer.parseInt(parts[0]);
      int minor = parts.length > 1 ? Integer.parseInt(parts[1]) : 0;
      return major < 1 || (major == 1 && minor < MIN_MINOR);
    } catch (NumberFormatException e) {
      return !announcesSleep();
    }
  }

  private boolean announcesSleep() {
    try {
      return Class.forName(WORKER, false, loader).getMethod("arm") != null;
    } catch (ReflectiveOperationException | LinkageError e) {
      return false;
    }
  }

  /** Why JUCX's classes or its native part could not be loaded. */
  String unloadable(LinkageError error) {
    String why = String.valueOf(error.getMessage());
    String jucx = "JUCX " + version + " cannot be loaded";
    if (why.contains("libuc") && why.contains("cannot open shared object")) {
      return jucx + ", because UCX is missing: install it (Debian and Ubuntu: libucx0). " + why;
    }
    if (why.contains("failed to map segment")
        || why.contains("Operation not permitted")
        || why.contains("temp directory")
        || why.contains("failed to extract")) {
      return jucx
          + ": its native part is unpacked into "
          + properties.apply("java.io.tmpdir")
          + ", which must be writable and not mounted noexec; name another by -Djava.io.tmpdir. "
          + why;
    }
    return jucx + ": " + error;
  }
}
