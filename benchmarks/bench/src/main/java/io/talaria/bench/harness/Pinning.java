// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Which core each of the two JVMs is bound to, if any. Immutable.
 *
 * @param serverCore the core of the server, or -1
 * @param clientCore the core of the client, or -1
 * @param reason why nothing is pinned; empty if the JVMs are
 */
public record Pinning(int serverCore, int clientCore, String reason) {
  /** No core. */
  public static final int NONE = -1;

  /**
   * Decides the pinning on this machine.
   *
   * @param wanted whether the user wants the JVMs pinned
   */
  public static Pinning decide(boolean wanted) {
    if (!wanted) {
      return new Pinning(NONE, NONE, "not wanted");
    }
    List<Integer> allowed = Cores.allowed();
    if (allowed.size() < 2 || Runtime.getRuntime().availableProcessors() < 2) {
      return new Pinning(NONE, NONE, "only one core");
    }
    List<Integer> two = Cores.two(allowed, Cores::siblings);
    return on(two.get(0), two.get(1));
  }

  /**
   * Pins to two cores, if this machine can.
   *
   * @param serverCore the server's
   * @param clientCore the client's, which may be the same
   */
  static Pinning on(int serverCore, int clientCore) {
    return find("taskset") == null
        ? new Pinning(NONE, NONE, "no taskset (package util-linux)")
        : new Pinning(serverCore, clientCore, "");
  }

  /** Returns the same with both JVMs on the server's core. */
  public Pinning together() {
    return new Pinning(serverCore, serverCore, reason);
  }

  /** Returns whether the JVMs are pinned. */
  public boolean active() {
    return serverCore >= 0;
  }

  /**
   * Returns the words to put before a command so that it runs on a core.
   *
   * @param core the core, or {@link #NONE}
   */
  public static List<String> prefix(int core) {
    return core < 0 ? List.of() : List.of("taskset", "-c", Integer.toString(core));
  }

  /** Returns the decision in words. */
  public String describe() {
    return active()
        ? "server on core " + serverCore + ", client on core " + clientCore
        : "none (" + reason + ")";
  }

  /**
   * Returns the program of that name on the path.
   *
   * @param program its name
   * @return its file, or null if there is none
   */
  public static Path find(String program) {
    String path = System.getenv("PATH");
    if (path == null) {
      return null;
    }
    for (String folder : path.split(File.pathSeparator, -1)) {
      Path file = Path.of(folder.isEmpty() ? "." : folder, program);
      if (Files.isExecutable(file) && !Files.isDirectory(file)) {
        return file;
      }
    }
    return null;
  }
}
