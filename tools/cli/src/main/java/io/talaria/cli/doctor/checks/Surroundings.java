// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import io.talaria.cli.harness.HarnessException;
import io.talaria.nio.config.Config;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the checks look: this machine, or what a test puts in its place.
 *
 * @param root the directory that stands for {@code /}, below which system files are looked for
 * @param dir the run-time directory
 * @param shmDir the directory of shared-memory files
 * @param ringInitialBytes size of a new ring
 * @param ringMaxBytes what a ring may grow to
 * @param spinNs how long a thread spins before it sleeps
 * @param cores how many cores this process may use
 * @param agent the agent's jar, or null to look for it
 * @param libraryPath {@code LD_LIBRARY_PATH}, or empty
 * @param jdkHomes directories in which JDKs are installed, one below the other
 * @param hosts what connections between hosts are set up with
 */
public record Surroundings(
    Path root,
    Path dir,
    Path shmDir,
    int ringInitialBytes,
    int ringMaxBytes,
    long spinNs,
    int cores,
    Path agent,
    String libraryPath,
    List<Path> jdkHomes,
    HostFiles hosts) {

  /**
   * What connections between hosts are set up with.
   *
   * @param rules the file of rules, or null
   * @param key the file of the key, or null
   * @param offset how far a rendezvous port is from its service's port
   */
  public record HostFiles(Path rules, Path key, int offset) {}

  /**
   * This machine.
   *
   * @param dir the user's choice of the run-time directory, or null
   * @param shmDir the user's choice of the shared-memory directory, or null
   * @param agent the user's choice of the agent's jar, or null
   * @param rules the user's choice of the file of rules, or null
   * @param key the user's choice of the file of the key, or null
   * @throws HarnessException if a property has a bad value
   */
  public static Surroundings ofThisMachine(Path dir, Path shmDir, Path agent, Path rules, Path key)
      throws HarnessException {
    Config config;
    try {
      config = Config.load();
    } catch (IllegalArgumentException e) {
      throw new HarnessException(e.getMessage(), e);
    }
    String libraryPath = System.getenv("LD_LIBRARY_PATH");
    return new Surroundings(
        Path.of("/"),
        dir == null ? config.dir() : dir,
        shmDir == null ? config.shmDir() : shmDir,
        config.ringInitialBytes(),
        config.ringMaxBytes(),
        config.spinNs(),
        Runtime.getRuntime().availableProcessors(),
        agent,
        libraryPath == null ? "" : libraryPath,
        jdkPlaces(),
        new HostFiles(
            rules == null ? config.rules() : rules,
            key == null ? config.key() : key,
            config.rendezvousOffset()));
  }

  private static List<Path> jdkPlaces() {
    List<Path> places = new ArrayList<>();
    String home = System.getProperty("user.home");
    places.add(Path.of("/usr/lib/jvm"));
    places.add(Path.of("/usr/java"));
    places.add(Path.of("/opt"));
    places.add(Path.of(home, ".sdkman", "candidates", "java"));
    places.add(Path.of(home, ".jdks"));
    return places;
  }

  /** A file of the system, given by its absolute path. */
  public Path system(String absolute) {
    return root.resolve(absolute.substring(1));
  }

  /** Bytes of shared memory that a new connection takes: a page and two rings. */
  long connectionBytes() {
    return 4096 + 2L * ringInitialBytes;
  }
}
