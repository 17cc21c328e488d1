// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What other transports than shared memory want. Only looked for: nothing is loaded. */
public final class NetworkChecks {
  private static final String LIBRARY = "libucp.so.0";

  private NetworkChecks() {}

  public static Finding ucx(Surroundings here) {
    List<Path> places = libraryPlaces(here);
    for (Path place : places) {
      Path library = place.resolve(LIBRARY);
      if (Files.isRegularFile(library)) {
        return Finding.ok(
            "UCX", library + target(library) + ": used where talaria.transports names ucx");
      }
    }
    return Finding.missing(
        "UCX",
        "no " + LIBRARY + " where the loader looks (" + places.size() + " directories)",
        (here.hosts().rules() == null
                ? "Only talaria.transports=ucx wants it"
                : "Without it the rules for other hosts are nothing")
            + "; install UCX (Debian and Ubuntu: apt install libucx0).");
  }

  private static String target(Path library) {
    try {
      String name = library.toRealPath().getFileName().toString();
      return name.equals(LIBRARY) ? "" : " (" + name + ")";
    } catch (IOException e) {
      return "";
    }
  }

  /** LD_LIBRARY_PATH, then what ld.so.conf names, then the loader's own places. */
  static List<Path> libraryPlaces(Surroundings here) {
    Set<Path> places = new LinkedHashSet<>();
    for (String part : here.libraryPath().split(":")) {
      if (!part.isEmpty()) {
        places.add(Path.of(part));
      }
    }
    List<Path> configurations = new ArrayList<>();
    configurations.add(here.system("/etc/ld.so.conf"));
    configurations.addAll(SystemFiles.entries(here.system("/etc/ld.so.conf.d")));
    for (Path configuration : configurations) {
      for (String line : SystemFiles.lines(configuration)) {
        if (line.startsWith("/")) {
          places.add(here.system(line.strip()));
        }
      }
    }
    for (String standard : List.of("/lib64", "/usr/lib64", "/lib", "/usr/lib")) {
      places.add(here.system(standard));
    }
    return List.copyOf(places);
  }

  public static Finding infiniband(Surroundings here) {
    List<String> devices = new ArrayList<>();
    for (Path device : SystemFiles.entries(here.system("/sys/class/infiniband"))) {
      List<String> ports = new ArrayList<>();
      for (Path port : SystemFiles.entries(device.resolve("ports"))) {
        // As in "4: ACTIVE".
        String state = SystemFiles.text(port.resolve("state"));
        ports.add(
            "port "
                + port.getFileName()
                + " "
                + state.substring(state.indexOf(':') + 1).strip()
                + " "
                + SystemFiles.text(port.resolve("link_layer")));
      }
      devices.add(
          device.getFileName() + (ports.isEmpty() ? "" : " (" + String.join(", ", ports) + ")"));
    }
    return devices.isEmpty()
        ? Finding.missing(RdmaDevices.NAME, RdmaDevices.NONE, RdmaDevices.HINT)
        : Finding.ok(RdmaDevices.NAME, String.join("; ", devices));
  }
}
