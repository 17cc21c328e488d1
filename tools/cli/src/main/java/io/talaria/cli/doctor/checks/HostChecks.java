// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import io.talaria.cli.harness.Units;
import io.talaria.nio.process.Host;

/** The kernel's limits, and what tells this host from others. */
public final class HostChecks {
  private static final long DEFAULT_MAPS = 65_530;
  private static final long FEW_FILES = 4096;
  private static final String OPEN_FILES = "Max open files";
  private static final String LOCKED_MEMORY = "Max locked memory";
  private static final String UNLIMITED = "unlimited";

  /** Mappings of a connection: its first rings, and one ring a direction once they have grown. */
  private static final int MAPS_PER_CONNECTION = 3;

  private HostChecks() {}

  public static Finding cores(Surroundings here) {
    int spinners = Math.max(1, here.cores() / 2);
    String found =
        here.cores()
            + (here.cores() == 1 ? " core" : " cores")
            + (here.spinNs() == 0
                ? "; threads do not spin before they sleep"
                : "; at most "
                    + spinners
                    + (spinners == 1 ? " thread" : " threads")
                    + " of a process "
                    + (spinners == 1 ? "spins " : "spin ")
                    + Units.time((double) here.spinNs())
                    + " before sleeping");
    if (here.cores() == 1 && here.spinNs() > 0) {
      return Finding.warn(
          "cores",
          found,
          "A spinning thread keeps its peer from running: set -Dtalaria.spin.ns=0.");
    }
    return Finding.ok("cores", found);
  }

  public static Finding bootId(Surroundings here) {
    String id = SystemFiles.text(here.system("/proc/sys/kernel/random/boot_id"));
    return (id.isEmpty()
            ? Finding.missing(
                "boot id",
                "/proc/sys/kernel/random/boot_id cannot be read",
                "Mount /proc: peers prove by it that they are on one host.")
            : Finding.ok("boot id", id))
        .asEssential();
  }

  public static Finding networkNamespace() {
    return networkNamespace(Host.networkNamespace());
  }

  public static Finding networkNamespace(String namespace) {
    return (namespace.isEmpty()
            ? Finding.missing(
                "network namespace",
                "/proc/self/ns/net cannot be read",
                "Mount /proc: peers prove by it that their addresses mean the same.")
            : Finding.ok(
                "network namespace",
                namespace
                    + "; only processes in the same one are accelerated, unless both have"
                    + " talaria.namespaces=shared"))
        .asEssential();
  }

  public static Finding mappings(Surroundings here) {
    long maps = SystemFiles.number(here.system("/proc/sys/vm/max_map_count"));
    if (maps < 0) {
      return Finding.warn("mappings", "/proc/sys/vm/max_map_count cannot be read", "Mount /proc.");
    }
    String found =
        "vm.max_map_count = "
            + maps
            + ", room for about "
            + maps / MAPS_PER_CONNECTION
            + " connections a process";
    return maps < DEFAULT_MAPS
        ? Finding.warn("mappings", found, "Raise it: sysctl -w vm.max_map_count=" + DEFAULT_MAPS)
        : Finding.ok("mappings", found);
  }

  public static Finding openFiles(Surroundings here) {
    String soft = softLimit(here, OPEN_FILES);
    if (soft.isEmpty()) {
      return Finding.warn("open files", "/proc/self/limits cannot be read", "Mount /proc.");
    }
    String found = soft + " a process; a connection takes one, as without Talaria";
    boolean few = soft.matches("\\d{1,18}") && Long.parseLong(soft) < FEW_FILES;
    return few
        ? Finding.warn("open files", found, "Raise it: ulimit -n " + FEW_FILES)
        : Finding.ok("open files", found);
  }

  /** Memory that may be locked, which RDMA needs. */
  static Finding lockedMemory(Surroundings here) {
    String soft = softLimit(here, LOCKED_MEMORY);
    if (soft.equals(UNLIMITED)) {
      return Finding.ok("locked memory", UNLIMITED);
    }
    String found =
        soft.isEmpty()
            ? "/proc/self/limits cannot be read"
            : soft + " bytes a process; RDMA locks the memory of its buffers";
    return Finding.warn(
        "locked memory",
        found,
        "Raise it: ulimit -l unlimited (limits.d: memlock; systemd: LimitMEMLOCK=infinity; in a"
            + " container: --ulimit memlock=-1).");
  }

  /** The soft limit of that name, or empty. */
  private static String softLimit(Surroundings here, String name) {
    for (String line : SystemFiles.lines(here.system("/proc/self/limits"))) {
      if (line.startsWith(name)) {
        return line.substring(name.length()).strip().split("\\s+")[0];
      }
    }
    return "";
  }
}
