// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.result.FileFault;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * How MPJ Express of Debian is started: inside one JVM ({@code multicore}), or a JVM a rank ({@code
 * niodev}) by its daemon, which listens on a port of its own.
 *
 * @param before the words that pin it, for all of its JVMs together
 * @param folder where it may write; its home, too
 */
record MpjExpress(List<String> before, Path folder) {
  private static final Path HOME = Path.of("/usr/share/mpj");
  private static final Path LIBRARIES = Path.of("/usr/share/java");
  private static final String LOGGING = "log4j-1.2.jar";
  private static final int DAEMON_PORT = 40_055;
  private static final Duration START_LIMIT = Duration.ofSeconds(30);
  private static final int PAUSE_MS = 50;

  /** Columns of the kernel's tables of connections. */
  private static final int LOCAL = 1;

  private static final int STATE = 3;
  private static final String LISTENING = "0A";

  /** Copies the list. */
  MpjExpress {
    before = List.copyOf(before);
  }

  /** Returns why it cannot be run, with the hint, if it cannot. */
  static Optional<String> unavailableReason() {
    for (String jar : List.of("starter.jar", "daemon.jar", "mpj.jar")) {
      if (!Files.isReadable(HOME.resolve("lib").resolve(jar))) {
        return Optional.of("MPJ Express is not installed: install libmpj-java");
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the command of its launcher.
   *
   * @param device {@code multicore} or {@code niodev}
   * @param ranks how many ranks
   * @param classPath where the program is
   * @param program the program's class and its arguments
   * @throws HarnessException if the list of hosts cannot be written
   */
  RankProcess.Command run(String device, int ranks, String classPath, List<String> program)
      throws HarnessException {
    List<String> words = java("starter.jar", "runtime.starter.MPJRun");
    words.addAll(List.of("-np", "" + ranks, "-dev", device, "-wdir", folder.toString()));
    if (device.equals("niodev")) {
      words.addAll(List.of("-machinesfile", machines().toString()));
    }
    // Its own class path in the JVM of the ranks lacks this one.
    words.add("-Xbootclasspath/a:" + LIBRARIES.resolve(LOGGING));
    words.addAll(List.of("-cp", classPath));
    words.addAll(program);
    return new RankProcess.Command(words, environment());
  }

  /**
   * Starts its daemon, and waits until it listens; before that, for the end of an earlier one.
   *
   * @return the daemon, to be closed
   * @throws HarnessException if it does not start, or another one stays there
   * @throws InterruptedException if interrupted
   */
  RankProcess daemon() throws HarnessException, InterruptedException {
    awaitPort();
    List<String> words = java("daemon.jar", "runtime.daemon.MPJDaemon");
    words.add("" + DAEMON_PORT);
    RankProcess daemon =
        RankProcess.start("express-daemon", new RankProcess.Command(words, environment()), folder);
    try {
      awaitListening(daemon);
      return daemon;
    } catch (HarnessException | InterruptedException e) {
      daemon.close();
      throw e;
    }
  }

  private static void awaitPort() throws HarnessException, InterruptedException {
    long end = System.nanoTime() + START_LIMIT.toNanos();
    while (listens()) {
      if (System.nanoTime() > end) {
        throw new HarnessException("port " + DAEMON_PORT + " is taken: is another daemon running?");
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    }
  }

  private static void awaitListening(RankProcess daemon)
      throws HarnessException, InterruptedException {
    long end = System.nanoTime() + START_LIMIT.toNanos();
    while (!listens()) {
      if (!daemon.alive() || System.nanoTime() > end) {
        throw new HarnessException(
            "the daemon of MPJ Express does not listen" + RankProcess.last(daemon.said()));
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    }
  }

  /**
   * Whether the daemon listens. Asks the kernel, because the daemon would take a connection for a
   * launcher.
   */
  private static boolean listens() throws HarnessException {
    String port = String.format(Locale.ROOT, ":%04X", DAEMON_PORT);
    for (Path table : List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"))) {
      try {
        for (String line : Files.exists(table) ? Files.readAllLines(table) : List.<String>of()) {
          String[] fields = line.strip().split(" +", -1);
          if (fields[LOCAL].endsWith(port) && fields[STATE].equals(LISTENING)) {
            return true;
          }
        }
      } catch (IOException e) {
        throw new HarnessException("cannot read " + table + ": " + FileFault.reason(e), e);
      }
    }
    return false;
  }

  private Path machines() throws HarnessException {
    try {
      return Files.writeString(folder.resolve("machines"), "localhost\n");
    } catch (IOException e) {
      throw new HarnessException("cannot write in " + folder + ": " + FileFault.reason(e), e);
    }
  }

  /** The jar's own class path names libraries that Debian has elsewhere. */
  private List<String> java(String jar, String main) {
    List<String> path = new ArrayList<>();
    path.add(HOME.resolve("lib").resolve(jar).toString());
    path.add(HOME.resolve("lib").resolve("runtimecommon.jar").toString());
    for (String library : List.of(LOGGING, "commons-codec.jar", "commons-io.jar")) {
      path.add(LIBRARIES.resolve(library).toString());
    }
    List<String> words = new ArrayList<>(before);
    words.add(MpjLaunch.java().toString());
    words.add("-Duser.home=" + folder);
    words.addAll(List.of("-cp", String.join(":", path), main));
    return words;
  }

  /** It starts {@code java} by that name. */
  private Map<String, String> environment() {
    Map<String, String> all = new HashMap<>();
    all.put("MPJ_HOME", HOME.toString());
    String path = System.getenv("PATH");
    all.put("PATH", MpjLaunch.java().getParent() + (path == null ? "" : ":" + path));
    return all;
  }
}
