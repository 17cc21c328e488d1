// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** Asks UCX's own program {@code ucx_info} what this machine has; UCX is not loaded here. */
public final class UcxInfo {
  private static final long LIMIT_S = 20;
  private static final List<String> PLACES = List.of("/usr/bin", "/usr/local/bin", "/opt/ucx/bin");
  private static final String TRANSPORT = "Transport:";
  private static final String DEVICE = "Device:";
  private static final String LOOPBACK = "lo";

  /** Those that lead to no other host. */
  private static final Pattern LOCAL =
      Pattern.compile("self|sysv|posix|cma|xpmem|knem|cuda.*|gdr_copy|rocm.*|ze.*");

  private UcxInfo() {}

  /**
   * Transports that lead to other hosts, and the devices of each; null if no {@code ucx_info}
   * reports them.
   */
  static Map<String, List<String>> transports(Surroundings here) {
    for (String place : PLACES) {
      Path program = here.system(place).resolve("ucx_info");
      if (Files.isExecutable(program)) {
        return run(program);
      }
    }
    return null;
  }

  private static Map<String, List<String>> run(Path program) {
    try {
      Path output = Files.createTempFile("talaria-doctor", ".txt");
      try {
        Process process =
            new ProcessBuilder(program.toString(), "-d")
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          return null;
        }
        return process.exitValue() == 0 ? parse(SystemFiles.lines(output)) : null;
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  static Map<String, List<String>> parse(List<String> lines) {
    Map<String, List<String>> found = new TreeMap<>();
    String transport = "";
    for (String line : lines) {
      if (line.contains(TRANSPORT)) {
        transport = after(line, TRANSPORT);
      } else if (line.contains(DEVICE) && !LOCAL.matcher(transport).matches()) {
        String device = after(line, DEVICE);
        if (!device.equals(LOOPBACK)) {
          found.computeIfAbsent(transport, any -> new ArrayList<>()).add(device);
        }
      }
    }
    return found;
  }

  private static String after(String line, String word) {
    return line.substring(line.indexOf(word) + word.length()).strip();
  }
}
