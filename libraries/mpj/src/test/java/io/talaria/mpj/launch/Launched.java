// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** A launcher in a process of its own, and what it printed. */
@SuppressWarnings("JdkObsolete") // Threads share the buffers.
final class Launched {
  private final Process process;
  private final Path jobs;
  private final StringBuffer out = new StringBuffer();
  private final StringBuffer err = new StringBuffer();
  private final List<Thread> readers = new ArrayList<>();

  private Launched(Process process, Path jobs) {
    this.process = process;
    this.jobs = jobs;
    read(process.getInputStream(), out);
    read(process.getErrorStream(), err);
  }

  static Launched start(String... words) throws IOException {
    return start(List.of(), words);
  }

  /** Runs one to its end. */
  static Launched run(String... words) throws IOException, InterruptedException {
    return start(words).ended();
  }

  /** Waits for its end. */
  Launched ended() throws InterruptedException {
    int ignored = status();
    return this;
  }

  /**
   * With a file system of its own for the shared files.
   *
   * @param size as mount wants it, such as 100k; other options may follow it, behind a comma
   */
  static Launched startWithRoom(String size, String... words) throws IOException {
    String mount = "mount -t tmpfs -o size=" + size + " tmpfs \"$0\" && exec \"$@\"";
    return start(List.of("unshare", "-m", "sh", "-c", mount), words);
  }

  /** With classes of a folder instead of those of the same name, for the launcher and its ranks. */
  static Launched startWithClasses(Path folder, String... words) throws IOException {
    String classPath = folder + File.pathSeparator + System.getProperty("java.class.path");
    return start(List.of(), classPath, words);
  }

  /** With its standard input closed. */
  static Launched startWithoutInput(String... words) throws IOException {
    return start(List.of("sh", "-c", "exec \"$@\" <&-"), words);
  }

  /** With one core to run on. */
  static Launched startOn(int core, String... words) throws IOException {
    return start(List.of("sh", "-c", "exec taskset -c " + core + " \"$@\""), words);
  }

  /** Why {@link #startWithRoom} cannot work here, or null. */
  static String noMounts() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return process.waitFor() == 0 ? null : "nothing can be mounted here: " + said.strip();
  }

  private static Launched start(List<String> before, String... words) throws IOException {
    return start(before, System.getProperty("java.class.path"), words);
  }

  private static Launched start(List<String> before, String classPath, String[] words)
      throws IOException {
    // Its own: other tests start jobs at the same time.
    Path jobs = Files.createTempDirectory(Path.of("/dev/shm"), "talaria-test-");
    jobs.toFile().deleteOnExit();
    List<String> command = new ArrayList<>(before);
    if (!before.isEmpty()) {
      command.add(jobs.toString());
    }
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-cp");
    command.add(classPath);
    command.add(Mpirun.class.getName());
    command.add("-Dtalaria.mpj.dir=" + jobs);
    command.addAll(List.of(words));
    return new Launched(new ProcessBuilder(command).start(), jobs);
  }

  private void read(InputStream from, StringBuffer to) {
    Thread reader =
        new Thread(
            () -> {
              try (BufferedReader lines =
                  new BufferedReader(new java.io.InputStreamReader(from, StandardCharsets.UTF_8))) {
                String line;
                while ((line = lines.readLine()) != null) {
                  to.append(line).append('\n');
                }
              } catch (IOException e) {
                // Ended.
              }
            });
    reader.setDaemon(true);
    reader.start();
    readers.add(reader);
  }

  Process process() {
    return process;
  }

  String out() {
    return out.toString();
  }

  String err() {
    return err.toString();
  }

  int status() throws InterruptedException {
    if (!process.waitFor(120, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("the launcher hangs; it said:\n" + out + err);
    }
    for (Thread reader : readers) {
      reader.join(5000);
    }
    return process.exitValue();
  }

  /** Files of this job that are there now. */
  List<Path> left() throws IOException {
    try (var files = Files.list(jobs)) {
      return files.toList();
    }
  }

  /** Waits until the text has lines with pids of that many ranks; in the order of ranks. */
  List<Long> pids(int ranks) throws InterruptedException {
    long until = System.nanoTime() + 60_000_000_000L;
    while (true) {
      Map<Integer, Long> pids = new TreeMap<>();
      for (String line : out().split("\n")) {
        if (line.startsWith("pid ")) {
          String[] words = line.split(" ");
          pids.put(Integer.parseInt(words[1]), Long.parseLong(words[2]));
        }
      }
      if (pids.size() == ranks) {
        return List.copyOf(pids.values());
      }
      if (System.nanoTime() > until || !process.isAlive()) {
        throw new AssertionError("the ranks did not start:\n" + out + err);
      }
      Thread.sleep(20);
    }
  }
}
