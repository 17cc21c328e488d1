// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the kernel and the JVM's tools tell about a process from outside. */
public final class Proc {
  private Proc() {}

  /**
   * Open descriptors of a process.
   *
   * @param child the process
   * @return how many
   * @throws IOException if it is gone
   */
  public static int descriptors(Child child) throws IOException {
    try (Stream<Path> files = Files.list(directory(child).resolve("fd"))) {
      return Math.toIntExact(files.count());
    }
  }

  /**
   * Open descriptors of a process, without those of pipes of which it has both ends: doorbells,
   * which are kept for the next selector, or thread, that needs one.
   *
   * @param child the process
   * @return how many
   * @throws IOException if it is gone
   */
  public static int descriptorsButDoorbells(Child child) throws IOException {
    List<String> targets = targets(child);
    return targets.size() - 2 * doorbells(targets, 2).size() - 3 * doorbells(targets, 3).size();
  }

  /**
   * The same, also without those by which it rings threads of a process that it shares memory with:
   * as many as have slept there at once, until the two share nothing any more.
   *
   * @param child the process
   * @param peer the other one
   * @return how many
   * @throws IOException if either is gone
   */
  public static int descriptorsButDoorbells(Child child, Child peer) throws IOException {
    Set<String> rung = new HashSet<>(targets(child));
    rung.retainAll(doorbells(targets(peer), 3));
    return descriptorsButDoorbells(child) - rung.size();
  }

  /**
   * Doorbells of selectors of a process: pipes of which it has both ends. It has those of threads
   * open once more, to read.
   *
   * @param child the process
   * @return how many
   * @throws IOException if it is gone
   */
  public static int doorbells(Child child) throws IOException {
    return doorbells(targets(child), 2).size();
  }

  /**
   * Doorbells of threads of a process: as many as have slept in blocking calls at once.
   *
   * @param child the process
   * @return how many
   * @throws IOException if it is gone
   */
  public static int doorbellsOfThreads(Child child) throws IOException {
    return doorbells(targets(child), 3).size();
  }

  private static Set<String> doorbells(List<String> targets, int descriptors) {
    return targets.stream()
        .filter(target -> target.startsWith("pipe:"))
        .filter(target -> Collections.frequency(targets, target) == descriptors)
        .collect(Collectors.toSet());
  }

  /** What the descriptors of a process refer to. */
  private static List<String> targets(Child child) throws IOException {
    List<String> targets = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory(child).resolve("fd"))) {
      for (Path each : files.toList()) {
        try {
          targets.add(Files.readSymbolicLink(each).toString());
        } catch (NoSuchFileException e) {
          // Closed meanwhile.
        }
      }
    }
    return targets;
  }

  /**
   * Mappings of a process whose file is in a directory.
   *
   * @param child the process
   * @param dir the directory
   * @return how many
   * @throws IOException if it is gone
   */
  public static int mappings(Child child, Path dir) throws IOException {
    return mapped(child, dir).size();
  }

  /**
   * The same in the kernel's words: addresses, and the file.
   *
   * @param child the process
   * @param dir the directory
   * @return a line each
   * @throws IOException if it is gone
   */
  public static List<String> mapped(Child child, Path dir) throws IOException {
    try (Stream<String> lines = Files.lines(directory(child).resolve("maps"))) {
      return lines.filter(line -> line.contains(dir + "/")).toList();
    }
  }

  /**
   * How many objects of Talaria's classes a JVM holds, once what nobody holds is collected.
   *
   * @param child the process
   * @return a line for each class
   * @throws IOException if it is gone
   * @throws InterruptedException if interrupted
   */
  public static List<String> ownObjects(Child child) throws IOException, InterruptedException {
    String jcmd = Settings.ownJava().resolve("bin/jcmd").toString();
    String all = run(jcmd, Long.toString(child.pid()), "GC.class_histogram");
    return all.lines().filter(line -> line.contains(" io.talaria.nio.")).toList();
  }

  /**
   * Memory that a process has in use.
   *
   * @param child the process
   * @return its resident bytes, pages shared with others included
   * @throws IOException if it is gone
   */
  public static long residentBytes(Child child) throws IOException {
    try (Stream<String> lines = Files.lines(directory(child).resolve("status"))) {
      String resident = lines.filter(line -> line.startsWith("VmRSS:")).findFirst().orElseThrow();
      return Long.parseLong(resident.replaceAll("[^0-9]", "")) << 10;
    }
  }

  /**
   * Processor time a process has used.
   *
   * @param child the process
   * @return milliseconds, to the kernel's clock tick of 10 ms
   * @throws IOException if it is gone
   */
  public static long cpuMs(Child child) throws IOException {
    String stat = Files.readString(directory(child).resolve("stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10;
  }

  /**
   * How many descriptors a process may have if it asks for all it can get, as a JVM does.
   *
   * @return the hard limit of this process, which its children inherit
   * @throws IOException if it cannot be read
   */
  public static long hardDescriptorLimit() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/limits"))) {
      String[] words =
          lines
              .filter(line -> line.startsWith("Max open files"))
              .findFirst()
              .orElseThrow()
              .split(" +");
      return words[4].equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(words[4]);
    }
  }

  private static Path directory(Child child) {
    return Path.of("/proc", Long.toString(child.pid()));
  }

  /**
   * Runs a command to its end.
   *
   * @param words the command
   * @return its output and errors
   * @throws IOException if it cannot start, or fails, or takes more than 20 s
   * @throws InterruptedException if the test's time is up
   */
  public static String run(String... words) throws IOException, InterruptedException {
    return run(Duration.ofSeconds(20), words);
  }

  /**
   * Runs a command to its end.
   *
   * @param limit how long it may take
   * @param words the command
   * @return its output and errors
   * @throws IOException if it cannot start, or fails, or takes longer
   * @throws InterruptedException if the test's time is up
   */
  public static String run(Duration limit, String... words)
      throws IOException, InterruptedException {
    ChildProcess ended;
    try {
      ended = ChildProcess.command((Object[]) words).oneOutput().run(limit);
    } catch (AssertionError e) {
      throw new IOException(String.join(" ", words) + " takes too long", e);
    }
    if (ended.exitStatus() != 0) {
      throw new IOException(
          String.join(" ", words) + " ended with " + ended.exitStatus() + ": " + ended.outText());
    }
    return ended.outText();
  }

  /**
   * Has a JVM collect its garbage, so that what only its collector gives back is given back.
   *
   * @param child the process
   * @throws IOException if it cannot be asked
   * @throws InterruptedException if the test's time is up
   */
  public static void collectGarbage(Child child) throws IOException, InterruptedException {
    run(Settings.ownJava().resolve("bin/jcmd").toString(), Long.toString(child.pid()), "GC.run");
  }

  /** The stacks of a JVM's threads, or why there are none. */
  static String threads(long pid) {
    try {
      String jcmd = Settings.ownJava().resolve("bin/jcmd").toString();
      String all = run(jcmd, Long.toString(pid), "Thread.print", "-l");
      return Stream.of(all.split("\n\n"))
          .filter(thread -> thread.startsWith("\"") && thread.contains("\tat "))
          .filter(thread -> !thread.matches("(?s)\"(Reference|Finalizer|Common-Cl|console).*"))
          .collect(Collectors.joining("\n\n"));
    } catch (IOException e) {
      return e.toString();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return e.toString();
    }
  }

  /**
   * Whether this process may do what only root may.
   *
   * @return true if so
   */
  public static boolean root() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    } catch (IOException e) {
      return false;
    }
  }
}
