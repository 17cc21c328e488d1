// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/** What this process holds at a moment. Immutable. */
final class Counts {
  private static final Pattern REFERENCES =
      Pattern.compile("JNI global refs: (\\d+), weak refs: (\\d+)");

  final long heapBytes;
  final long globalReferences;
  final long weakReferences;
  final long descriptors;
  final long mappings;
  private final long residentKiB;

  private Counts() throws IOException {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    heapBytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    Matcher references = REFERENCES.matcher(threads());
    if (!references.find()) {
      throw new IOException("the JVM counts no references of JNI");
    }
    globalReferences = Long.parseLong(references.group(1));
    weakReferences = Long.parseLong(references.group(2));
    String[] names = new File("/proc/self/fd").list();
    descriptors = names == null ? 0 : names.length;
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      mappings = lines.count();
    }
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      residentKiB =
          lines
              .filter(line -> line.startsWith("VmRSS:"))
              .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
              .sum();
    }
  }

  /** Counts now, after a collection. */
  static Counts now() {
    try {
      return new Counts();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** What {@code jcmd PID Thread.print} prints, whose end counts JNI's references. */
  private static String threads() throws IOException {
    try {
      return (String)
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "threadPrint",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
    } catch (JMException e) {
      throw new IOException(e);
    }
  }

  @Override
  public String toString() {
    return "heap "
        + heapBytes / 1024
        + " KiB, JNI references "
        + globalReferences
        + " global and "
        + weakReferences
        + " weak, descriptors "
        + descriptors
        + ", mappings "
        + mappings
        + ", resident "
        + residentKiB / 1024
        + " MiB";
  }
}
