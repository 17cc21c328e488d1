// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What this process and the device hold.
 *
 * @param descriptors that are open
 * @param pinnedKb memory that devices may reach
 * @param objects of the device, as {@code rdma resource} counts them; empty without that
 */
record Held(long descriptors, long pinnedKb, String objects) {
  static Held now() throws IOException, InterruptedException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return new Held(files.count(), status("VmPin:") + status("VmLck:"), resources());
    }
  }

  /** What the descriptors are of. */
  private static List<String> links() throws IOException {
    List<String> links = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      for (Path file : files.toList()) {
        if (Files.isSymbolicLink(file)) { // that of the listing itself is gone
          links.add(Files.readSymbolicLink(file).toString());
        }
      }
    }
    return links;
  }

  private static long status(String name) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    return 0;
  }

  private static String resources() throws IOException, InterruptedException {
    Process rdma;
    try {
      rdma = new ProcessBuilder("rdma", "resource", "show").redirectErrorStream(true).start();
    } catch (IOException e) {
      return "";
    }
    String said = new String(rdma.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return rdma.waitFor() == 0 ? said.strip() : "";
  }

  /** Waits until no more is held than this; the kernel takes its time. */
  void awaitAgain() throws IOException, InterruptedException {
    long endNs = System.nanoTime() + 30_000_000_000L;
    while (true) {
      Held now = now();
      if (now.descriptors <= descriptors
          && now.pinnedKb <= pinnedKb
          && now.objects.equals(objects)) {
        System.out.println("nothing is held that was not before: " + now);
        return;
      }
      if (System.nanoTime() > endNs) {
        throw new AssertionError(
            "held before: " + this + "; now: " + now + ", descriptors of " + links());
      }
      Thread.sleep(100);
    }
  }
}
