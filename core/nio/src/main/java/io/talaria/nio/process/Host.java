// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import java.io.IOException;

/** What identifies this host and process to a peer that might be on the same host. */
public final class Host {
  /** What {@link #uid} gives where there is no /proc. */
  public static final int UNKNOWN_UID = -1;

  /** Why there is no user id, for people. */
  public static final String NO_UID =
      "/proc/self cannot be read, so that the user id of this process is not known; mount /proc";

  private Host() {}

  /** Effective user id of this process, or {@link #UNKNOWN_UID} where there is no /proc. */
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
    return ProcFiles.alive(pid);
  }

  private static final class Identity {
    static final int UID = uid();
    static final long PID = pid();
    static final String BOOT_ID = orEmpty(() -> ProcFiles.bootId().toString());
    static final String NETWORK_NAMESPACE = orEmpty(() -> ProcFiles.namespace("net"));
    static final String PID_NAMESPACE = orEmpty(() -> ProcFiles.namespace("pid"));

    private interface Reading {
      String read() throws IOException;
    }

    private static int uid() {
      try {
        return ProcFiles.ownUid();
      } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
        return UNKNOWN_UID;
      }
    }

    /** By /proc where it is there: the JDK's handles of processes start threads and more. */
    private static long pid() {
      try {
        return ProcFiles.ownPidInNamespace();
      } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
        return ProcessHandle.current().pid();
      }
    }

    private static String orEmpty(Reading reading) {
      try {
        return reading.read();
      } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
        return "";
      }
    }
  }
}
