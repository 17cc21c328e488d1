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
  /** What {@link #id} gives for a name of another form. */
  static final long NO_ID = -1;

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

  /** The identifier in a name, or {@link #NO_ID}. */
  static long id(String name) {
    Matcher form = Form.PATTERN.matcher(name);
    return form.matches() ? Long.parseUnsignedLong(form.group(1), 16) : NO_ID;
  }

  /** The identifier in a name that begins with a prefix, or {@link #NO_ID}. */
  static long id(String name, char prefix) {
    return name.charAt(0) == prefix ? id(name) : NO_ID;
  }

  /** Whether this process made an identifier, as far as it tells. */
  static boolean own(long id) {
    return pid(id) == Host.pid() && here(id);
  }

  private static boolean here(long id) {
    return ((id >>> NAMESPACE_SHIFT) & NAMESPACE_MASK) == namespace();
  }

  /**
   * Whether the process that made a file has ended. False when in doubt: for a name of another form
   * or of another process-id namespace.
   */
  public static boolean orphaned(String name) {
    long id = id(name);
    return id != NO_ID && here(id) && !Host.alive(pid(id));
  }

  /**
   * Unlinks the files with a prefix whose processes have ended: those of this process-id namespace
   * that are not alive, and those of others of which {@link EndedOwners} tell it.
   */
  public static void sweep(Path directory, char prefix) {
    Map<Path, Long> gone = new HashMap<>();
    Map<Path, Long> elsewhere = new HashMap<>();
    Map<Long, Boolean> alive = new HashMap<>(); // a process may have thousands of files
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        long id = id(file.getFileName().toString(), prefix);
        if (id != NO_ID && !here(id)) {
          elsewhere.put(file, id);
        } else if (id != NO_ID && !alive.computeIfAbsent(pid(id), Host::alive)) {
          gone.put(file, id);
        }
      }
    } catch (IOException | RuntimeException e) {
      return; // no directory, nothing to sweep
    }
    if (gone.isEmpty() && elsewhere.isEmpty()) {
      return;
    }
    EndedOwners owners = EndedOwners.in(directory); // after the files: see there
    gone.forEach(
        (file, id) -> {
          if (!owners.lives(id)) { // in a namespace that looks like this one by its 10 bits
            removeQuietly(file);
          }
        });
    elsewhere.forEach(
        (file, id) -> {
          if (owners.ended(id)) {
            removeQuietly(file);
          }
        });
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
