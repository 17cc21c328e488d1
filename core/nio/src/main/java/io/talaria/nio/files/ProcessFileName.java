// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import io.talaria.nio.process.Host;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of files in the private directories, which tell whose they are, so that anyone can sweep
 * what a killed process left: a prefix and 16 hexadecimal digits.
 *
 * <pre>
 *   63       42 41        32 31          0
 *   +----------+------------+------------+
 *   |   pid    | namespace  |   number   |
 *   +----------+------------+------------+
 * </pre>
 */
public final class ProcessFileName {
  private static final int DIGITS = 16;

  private static final int PID_SHIFT = 42;
  private static final int NAMESPACE_SHIFT = 32;
  private static final long NAMESPACE_MASK = 0x3ff;

  /** From anywhere, because another process of this number may have left files. */
  private static final AtomicInteger NEXT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt());

  private ProcessFileName() {}

  /** Loaded by those who read names only; names are made at the start of every JVM. */
  private static final class Form {
    /** A letter, the port of an announcement, and the digits. */
    static final Pattern PATTERN = Pattern.compile("[a-z](?:-[0-9]+-)?([0-9a-f]{16})");

    private Form() {}
  }

  /** A fresh identifier for a file of this process. */
  public static long nextId() {
    return (Host.pid() << PID_SHIFT)
        | (namespace() << NAMESPACE_SHIFT)
        | Integer.toUnsignedLong(NEXT.getAndIncrement());
  }

  /** Process id of the process that made an identifier, as it sees itself. */
  public static long pid(long id) {
    return id >>> PID_SHIFT;
  }

  /** The name of a file. */
  public static String of(char prefix, long id) {
    return prefix + digits(id);
  }

  /** The 16 digits of an identifier. */
  public static String digits(long id) {
    String hex = Long.toHexString(id);
    return "0".repeat(DIGITS - hex.length()) + hex;
  }

  /**
   * Whether the process that made a file has ended. False when in doubt: for a name of another form
   * or of another process-id namespace.
   */
  public static boolean orphaned(String name) {
    return orphaned(name, Host::alive);
  }

  private static boolean orphaned(String name, LongPredicate alive) {
    Matcher form = Form.PATTERN.matcher(name);
    if (!form.matches()) {
      return false;
    }
    long id = Long.parseUnsignedLong(form.group(1), 16);
    return ((id >>> NAMESPACE_SHIFT) & NAMESPACE_MASK) == namespace() && !alive.test(pid(id));
  }

  /** Unlinks the files with a prefix whose processes have ended. */
  public static void sweep(Path directory, char prefix) {
    Map<Long, Boolean> seen = new HashMap<>(); // a process may have thousands of files
    LongPredicate alive = pid -> seen.computeIfAbsent(pid, Host::alive);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, prefix + "*")) {
      for (Path file : files) {
        if (orphaned(file.getFileName().toString(), alive)) {
          removeQuietly(file);
        }
      }
    } catch (IOException | RuntimeException e) {
      // No directory, nothing to sweep.
    }
  }

  /** One that stays does not keep the others. */
  private static void removeQuietly(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException | SecurityException e) {
      // It is not a file of ours, or may not be removed.
    }
  }

  private static long namespace() {
    return Host.pidNamespace().hashCode() & NAMESPACE_MASK;
  }
}
