// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import io.talaria.cli.ss.Show;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Which devices of message passing ({@code talaria mpirun}) this machine has. */
public final class MpjChecks {
  private static final String NAME = "message passing";
  private static final String MEMORY = "/dev/shm";
  private static final long PAGE = 4096;

  /** From here on the module runs. */
  private static final int JAVA = 25;

  private static final String VERBS = "libibverbs.so.1";

  /** A ring of 64 KiB with its head, in whole pages. */
  private static final long RING_BYTES = (64 << 10) + PAGE;

  /** More ranks than that are not asked for on one host. */
  private static final int MANY = 1000;

  private MpjChecks() {}

  /**
   * Which devices there are.
   *
   * @param feature the Java on which this is asked
   */
  public static Finding devices(Surroundings here, int feature) {
    if (feature < JAVA) {
      return Finding.warn(
          NAME,
          "needs Java " + JAVA + " or newer, and this is Java " + feature,
          "For mpirun set TALARIA_JAVA_HOME to the folder of a Java "
              + JAVA
              + "; doctor then lists the devices.");
    }
    List<String> devices = new ArrayList<>();
    List<String> reasons = new ArrayList<>();
    List<String> hints = new ArrayList<>();
    Path memory = here.system(MEMORY);
    long free = free(memory);
    int ranks = ranksIn(free);
    if (ranks >= 2) {
      devices.add(
          "shmdev ("
              + MEMORY
              + " has room for "
              + (ranks == MANY ? "more than " : "")
              + ranks
              + " ranks that all talk to each other)");
    } else {
      reasons.add(
          "no shmdev: "
              + MEMORY
              + (free < 0
                  ? " is no directory that this user can write to"
                  : " has only " + Show.bytes(free) + " free"));
      hints.add(
          "Mount a larger /dev/shm (mount -o remount,size=1g /dev/shm; in a container: --shm-size),"
              + " or name another directory: -Dtalaria.mpj.dir.");
    }
    devices.add("smdev");
    devices.add("niodev");
    boolean ucx = NetworkChecks.ucx(here).status() == Status.OK;
    if (ucx) {
      devices.add("ucxdev");
    } else {
      reasons.add("no ucxdev: no libucp.so.0 where the loader looks");
      hints.add("Install UCX for ucxdev (Debian and Ubuntu: apt install libucx0).");
    }
    boolean verbs =
        NetworkChecks.libraryPlaces(here).stream()
            .anyMatch(place -> Files.isRegularFile(place.resolve(VERBS)));
    if (verbs && rdmaPortIsUp(here)) {
      devices.add("ibvdev");
    }
    String found = String.join(", ", devices) + "; " + between(here, ucx, verbs);
    if (reasons.isEmpty()) {
      return Finding.ok(NAME, found);
    }
    found += "; " + String.join("; ", reasons);
    String hint = String.join(" ", hints);
    return ranks >= 2 ? Finding.missing(NAME, found, hint) : Finding.warn(NAME, found, hint);
  }

  private static String between(Surroundings here, boolean ucx, boolean verbs) {
    boolean port = rdmaPortIsUp(here);
    String taken =
        !port
            ? "niodev, as no RDMA port is up"
            : verbs
                ? "ibvdev"
                : ucx ? "ucxdev" : "niodev, as there is neither " + VERBS + " nor UCX";
    return "between hosts auto takes " + taken;
  }

  private static boolean rdmaPortIsUp(Surroundings here) {
    for (Path device : SystemFiles.entries(here.system("/sys/class/infiniband"))) {
      for (Path port : SystemFiles.entries(device.resolve("ports"))) {
        if (SystemFiles.text(port.resolve("state")).startsWith("4:")) {
          return true;
        }
      }
    }
    return false;
  }

  private static long free(Path directory) {
    if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
      return -1;
    }
    try {
      return SystemFiles.freeBytes(Files.getFileStore(directory));
    } catch (IOException e) {
      return -1;
    }
  }

  /** How many ranks of one host find room: a ring for each two, both ways, and a page each. */
  public static int ranksIn(long freeBytes) {
    int ranks = 0;
    while (ranks < MANY && (ranks + 1) * (ranks * RING_BYTES + PAGE) <= freeBytes) {
      ranks++;
    }
    return ranks;
  }
}
