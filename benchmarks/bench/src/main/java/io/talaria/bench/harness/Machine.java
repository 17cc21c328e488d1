// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The conditions of a measurement, to be written beside its results.
 *
 * @param time when it began, UTC
 * @param cpu the processor's name
 * @param cores how many cores this process may use
 * @param virtual whether a hypervisor is below
 * @param governor the frequency governor of core 0; empty if there is none
 * @param load the load average of the last minute as the measurement began; negative if unknown
 * @param kernel the operating system and its version
 * @param jdk the virtual machine and its version
 * @param talaria Talaria's version
 * @param pinning which JVM sat on which core
 * @param busy how many busy processes ran beside the benchmark
 */
public record Machine(
    String time,
    String cpu,
    int cores,
    boolean virtual,
    String governor,
    double load,
    String kernel,
    String jdk,
    String talaria,
    String pinning,
    int busy) {

  /**
   * Describes this machine.
   *
   * @param talaria Talaria's version
   * @param pinning how the JVMs are pinned
   */
  public static Machine describe(String talaria, Pinning pinning) {
    return new Machine(
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        cpuInfo("model name", System.getProperty("os.arch")),
        Runtime.getRuntime().availableProcessors(),
        (" " + cpuInfo("flags", "") + " ").contains(" hypervisor "),
        firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        loadAverage(),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"),
        talaria,
        pinning.describe(),
        0);
  }

  /**
   * Returns the same with busy processes beside the benchmark.
   *
   * @param processes how many
   */
  public Machine beside(int processes) {
    return new Machine(
        time, cpu, cores, virtual, governor, load, kernel, jdk, talaria, pinning, processes);
  }

  /** Returns the conditions as lines for the user. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "CPU      "
            + cpu
            + ", "
            + cores
            + (cores == 1 ? " core" : " cores")
            + (virtual ? ", virtual machine" : "")
            + (governor.isEmpty() ? "" : ", governor " + governor));
    lines.add(
        "System   "
            + kernel
            + (load < 0 ? "" : String.format(Locale.ROOT, ", load %.2f at the start", load))
            + (load > cores ? " (BUSY: the figures will be off)" : ""));
    lines.add("JDK      " + jdk);
    lines.add("Talaria  " + talaria);
    lines.add("Pinning  " + pinning);
    if (busy > 0) {
      lines.add("Busy     " + busy + " beside that never rest");
    }
    return lines;
  }

  private static String cpuInfo(String key, String otherwise) {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith(key))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(otherwise);
    } catch (IOException | UncheckedIOException e) {
      return otherwise;
    }
  }

  private static double loadAverage() {
    String line = firstLine("/proc/loadavg");
    return line.isEmpty() ? -1 : Double.parseDouble(line.substring(0, line.indexOf(' ')));
  }

  private static String firstLine(String file) {
    try (Stream<String> lines = Files.lines(Path.of(file))) {
      return lines.findFirst().orElse("");
    } catch (IOException | UncheckedIOException e) {
      return "";
    }
  }
}
