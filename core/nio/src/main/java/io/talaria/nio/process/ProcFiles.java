// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.UUID;

/** What /proc says about processes. Does file work: not for the program's threads. */
public final class ProcFiles {
  /** What {@link #startTicks} gives for a process that has ended or never was. */
  public static final long NO_PROCESS = -1;

  private static final Path PROC = Path.of("/proc");
  private static final int FIELDS_BEFORE_START_AFTER_NAME = 19;

  private ProcFiles() {}

  /** The id of this process as /proc numbers it. */
  public static long ownPid() throws IOException {
    return Long.parseLong(Files.readSymbolicLink(PROC.resolve("self")).toString());
  }

  /**
   * The id of this process in its own process-id namespace, which need not be that of /proc: the
   * last one of those that its status has, from /proc's namespace inwards.
   */
  static long ownPidInNamespace() throws IOException {
    Path file = PROC.resolve("self/status");
    String status = Files.readString(file, StandardCharsets.ISO_8859_1);
    int begin = status.indexOf("\nNSpid:");
    if (begin < 0) {
      throw new IOException("no NSpid in " + file); // before Linux 4.1
    }
    String ids = status.substring(begin, status.indexOf('\n', begin + 1));
    return Long.parseLong(ids.substring(ids.lastIndexOf('\t') + 1));
  }

  /**
   * When a process started.
   *
   * @return clock ticks since boot, or {@link #NO_PROCESS}
   * @throws IOException if /proc cannot be read, so that nothing is known
   */
  public static long startTicks(long pid) throws IOException {
    Path process = PROC.resolve(Long.toString(pid));
    String stat;
    try {
      stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      if (Files.exists(PROC.resolve("self/stat")) && Files.notExists(process)) {
        return NO_PROCESS;
      }
      throw e;
    }
    // The name of the program stands in parentheses and may itself hold spaces and parentheses.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
    if (fields.length <= FIELDS_BEFORE_START_AFTER_NAME) {
      throw new IOException("unexpected form of " + process.resolve("stat") + ": " + stat);
    }
    boolean ended = fields[0].equals("Z") || fields[0].equals("X"); // its parent has yet to notice
    return ended ? NO_PROCESS : Long.parseLong(fields[FIELDS_BEFORE_START_AFTER_NAME]);
  }

  /**
   * Whether a process of this process-id namespace is alive (a zombie is not). Where /proc does not
   * tell, the answer is yes if it has the process at all.
   */
  static boolean alive(long pid) {
    try {
      return startTicks(pid) != NO_PROCESS;
    } catch (IOException e) {
      return Files.exists(PROC.resolve(Long.toString(pid)).resolve("stat"));
    }
  }

  /** Effective user id of this process. */
  static int ownUid() throws IOException {
    return (Integer) Files.getAttribute(PROC.resolve("self"), "unix:uid");
  }

  /** What names a namespace of this process, such as {@code net:[4026531840]}. */
  static String namespace(String kind) throws IOException {
    return Files.readSymbolicLink(PROC.resolve("self/ns").resolve(kind)).toString();
  }

  /** The inode that names the pid namespace of this process. */
  public static long pidNamespace() throws IOException {
    String link = namespace("pid");
    return Long.parseLong(link.substring(link.indexOf('[') + 1, link.indexOf(']')));
  }

  /** When the running kernel booted. */
  public static Instant bootedAt() throws IOException {
    String uptime =
        Files.readString(PROC.resolve("uptime"), StandardCharsets.ISO_8859_1).split(" ")[0];
    return Instant.now().minusMillis((long) (Double.parseDouble(uptime) * 1000));
  }

  /** The id of the running kernel's boot. */
  public static UUID bootId() throws IOException {
    return UUID.fromString(
        Files.readString(PROC.resolve("sys/kernel/random/boot_id"), StandardCharsets.ISO_8859_1)
            .trim());
  }
}
