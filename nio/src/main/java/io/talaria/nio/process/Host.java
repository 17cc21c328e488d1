// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What identifies this host and process to a peer that might be on the same host. */
public final class Host {
  private static final Path SELF = Path.of("/proc/self");

  private Host() {}

  /** Effective user id of this process, or -1 where there is no /proc. */
  public static int uid() {
    return Identity.UID;
  }

  /** Process id, as seen in this process's own namespace. */
  public static long pid() {
    return Identity.PID;
  }

  /** Identifier of this boot of this host; empty if unknown. */
  public static String bootId() {
    return Identity.BOOT_ID;
  }

  /** Identifier of the network namespace, such as {@code net:[4026531840]}; empty if unknown. */
  public static String networkNamespace() {
    return Identity.NETWORK_NAMESPACE;
  }

  /** Identifier of the process-id namespace; empty if unknown. */
  public static String pidNamespace() {
    return Identity.PID_NAMESPACE;
  }

  /** Whether a process of this process-id namespace is alive (a zombie is not). */
  public static boolean alive(long pid) {
    Path stat = Path.of("/proc", Long.toString(pid), "stat");
    try {
      String line = Files.readString(stat, StandardCharsets.ISO_8859_1);
      int state = line.lastIndexOf(')') + 2;
      return state < line.length() && line.charAt(state) != 'Z' && line.charAt(state) != 'X';
    } catch (IOException e) {
      return Files.exists(stat);
    }
  }

  private static final class Identity {
    static final int UID = readUid();
    static final long PID = ProcessHandle.current().pid();
    static final String BOOT_ID = read("/proc/sys/kernel/random/boot_id");
    static final String NETWORK_NAMESPACE = link("ns/net");
    static final String PID_NAMESPACE = link("ns/pid");

    private static int readUid() {
      try {
        return (Integer) Files.getAttribute(SELF, "unix:uid");
      } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
        return -1;
      }
    }

    private static String read(String file) {
      try {
        return Files.readString(Path.of(file)).trim();
      } catch (IOException e) {
        return "";
      }
    }

    private static String link(String name) {
      try {
        return Files.readSymbolicLink(SELF.resolve(name)).toString();
      } catch (IOException | UnsupportedOperationException e) {
        return "";
      }
    }
  }
}
