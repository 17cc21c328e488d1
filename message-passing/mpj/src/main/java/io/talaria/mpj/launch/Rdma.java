// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether this host has an RDMA device whose port is up, as Linux tells. */
final class Rdma {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  private Rdma() {}

  static boolean isUp() {
    return isUp(DEVICES);
  }

  /** The same, in another tree: {@code DEVICE/ports/N/state} says «4: ACTIVE». */
  static boolean isUp(Path devices) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(devices)) {
      for (Path device : found) {
        if (anyPortIsUp(device.resolve("ports"))) {
          return true;
        }
      }
    } catch (IOException e) {
      // There are none.
    }
    return false;
  }

  private static boolean anyPortIsUp(Path ports) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(ports)) {
      for (Path port : found) {
        if (Files.readString(port.resolve("state")).startsWith("4:")) {
          return true;
        }
      }
    } catch (IOException e) {
      // No ports that can be read.
    }
    return false;
  }
}
