// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What programs on RDMA verbs and questions to a fabric want. Only looked for: nothing is loaded.
 */
public final class RdmaChecks {
  private static final String PERMISSIONS = "RDMA permissions";
  private static final String DEVICES = "/sys/class/infiniband";
  private static final String DIRECTORY = "/dev/infiniband";

  /** What is loaded, and the package of Debian that has it. */
  private static final Map<String, String> LIBRARIES = new LinkedHashMap<>();

  static {
    LIBRARIES.put("libibverbs.so.1", "libibverbs1 ibverbs-providers");
    LIBRARIES.put("librdmacm.so.1", "librdmacm1");
    LIBRARIES.put("libibumad.so.3", "libibumad3");
    LIBRARIES.put("libibmad.so.5", "libibmad5");
    LIBRARIES.put("libibnetdisc.so.5", "libibnetdisc5");
  }

  private RdmaChecks() {}

  /** The libraries; and what a device needs, if there is one. */
  public static List<Finding> all(Surroundings here) {
    List<Finding> findings = new ArrayList<>();
    findings.add(libraries(here));
    if (!SystemFiles.entries(here.system(DEVICES)).isEmpty()) {
      findings.add(permissions(here));
      if (here.hosts().rules() == null) { // else it is asked for them
        findings.add(HostChecks.lockedMemory(here));
      }
      findings.addAll(subnetManager(here));
    }
    return findings;
  }

  public static Finding libraries(Surroundings here) {
    List<Path> places = NetworkChecks.libraryPlaces(here);
    List<String> missing = new ArrayList<>();
    List<String> packages = new ArrayList<>();
    LIBRARIES.forEach(
        (library, packageName) -> {
          if (places.stream().noneMatch(place -> Files.isRegularFile(place.resolve(library)))) {
            missing.add(library);
            packages.add(packageName);
          }
        });
    return missing.isEmpty()
        ? Finding.ok("RDMA libraries", String.join(", ", LIBRARIES.keySet()))
        : Finding.missing(
            "RDMA libraries",
            "no " + String.join(", ", missing) + " where the loader looks",
            "Only verbs from Java and ports --fabric want them; Debian and Ubuntu: apt install "
                + String.join(" ", packages)
                + ".");
  }

  public static Finding permissions(Surroundings here) {
    List<String> closed = new ArrayList<>();
    boolean verbs = false;
    for (Path file : SystemFiles.entries(here.system(DIRECTORY))) {
      String name = file.getFileName().toString();
      boolean wanted =
          name.startsWith("uverbs") || name.startsWith("umad") || name.equals("rdma_cm");
      verbs |= name.startsWith("uverbs");
      if (wanted && !(Files.isReadable(file) && Files.isWritable(file))) {
        closed.add(name);
      }
    }
    if (!verbs) {
      return Finding.missing(
          PERMISSIONS,
          "there is a device, but no " + DIRECTORY + "/uverbs*",
          "Load the module (modprobe ib_uverbs); in a container hand the devices over (--device "
              + DIRECTORY
              + ").");
    }
    return closed.isEmpty()
        ? Finding.ok(PERMISSIONS, "this user may use all of " + DIRECTORY)
        : Finding.warn(
            PERMISSIONS,
            "this user may not use " + String.join(", ", closed) + " of " + DIRECTORY,
            "Run as root, or give this user's group access by a rule of udev; uverbs and rdma_cm"
                + " are for verbs, umad for ports --fabric.");
  }

  /** A row if an InfiniBand port waits for a subnet manager, or has one. */
  public static List<Finding> subnetManager(Surroundings here) {
    List<String> waiting = new ArrayList<>();
    List<String> managed = new ArrayList<>();
    for (Path device : SystemFiles.entries(here.system(DEVICES))) {
      for (Path port : SystemFiles.entries(device.resolve("ports"))) {
        if (!SystemFiles.text(port.resolve("link_layer")).equals("InfiniBand")) {
          continue;
        }
        String name = device.getFileName() + "/" + port.getFileName();
        String lid = SystemFiles.text(port.resolve("lid"));
        if (SystemFiles.text(port.resolve("state")).contains("DOWN")) {
          continue; // without a link no subnet manager reaches it
        }
        boolean has = !lid.isEmpty() && !lid.matches("0x0*|0*");
        (has ? managed : waiting).add(has ? name + " has LID " + lid : name);
      }
    }
    if (!waiting.isEmpty()) {
      return List.of(
          Finding.warn(
              "subnet manager",
              String.join(", ", waiting) + " has a link, but no LID",
              "Start one in the subnet, on a switch or a host (Debian: apt install opensm)."));
    }
    return managed.isEmpty()
        ? List.of()
        : List.of(Finding.ok("subnet manager", String.join(", ", managed)));
  }
}
