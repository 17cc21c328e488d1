// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test directories of its own and children, tells everything about them when the test
 * fails, ends them with the test, and then looks for files they left behind. Confined to the test's
 * thread.
 */
public final class Lab
    implements BeforeEachCallback, AfterTestExecutionCallback, AfterEachCallback {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private final List<Child> children = new ArrayList<>();
  private final List<Undo> undos = new ArrayList<>();
  private Path scratch;
  private Path shared;
  private boolean leaksAllowed;
  private boolean sweepNeeded;

  /** Takes something back at the end of the test. */
  @FunctionalInterface
  public interface Undo {
    /**
     * Takes it back.
     *
     * @throws Exception if that is impossible
     */
    void run() throws Exception;
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    children.clear();
    undos.clear();
    leaksAllowed = false;
    sweepNeeded = false;
    scratch = Files.createTempDirectory("talaria-it-");
    shared =
        Files.isWritable(SHARED_MEMORY)
            ? Files.createTempDirectory(SHARED_MEMORY, "talaria-it-")
            : Files.createDirectory(scratch.resolve("no-shm"));
  }

  /**
   * Describes a child with the directories of this test.
   *
   * @param flavour its sockets and its Java; the test is skipped if there is no such thing
   * @param program its main class
   * @return a description to refine and start
   */
  public ChildSpec child(Flavour flavour, Class<?> program) {
    flavour.assume();
    return new ChildSpec(this, flavour, program);
  }

  /**
   * The run-time directory of this test's children; they make it.
   *
   * @return a path in a private directory
   */
  public Path talariaDir() {
    return scratch.resolve("run");
  }

  /**
   * The directory for the rings of this test's children; they make it.
   *
   * @return a path in a private directory in shared memory
   */
  public Path shmDir() {
    return shared.resolve("shm");
  }

  /**
   * A private directory for anything else.
   *
   * @return a directory that lives as long as the test
   */
  public Path scratch() {
    return scratch;
  }

  /**
   * A file that outlives the test, for what a failure leaves to be read.
   *
   * @param name its name
   * @return a path in an existing directory below the module's {@code target}
   * @throws IOException if the directory cannot be made
   */
  public Path report(String name) throws IOException {
    return Files.createDirectories(Path.of("target", "failures").toAbsolutePath()).resolve(name);
  }

  /**
   * Has something taken back when the test is over and its children have ended.
   *
   * @param undo takes it back; the last one runs first
   */
  public void afterwards(Undo undo) {
    undos.add(0, undo);
  }

  /** Has the next start sweep before looking for files, because a child ends without tidying up. */
  public void expectLeftovers() {
    sweepNeeded = true;
  }

  /** Does not look for files left behind, because the test itself spoils the directories. */
  public void allowLeaks() {
    leaksAllowed = true;
  }

  /**
   * Ends a child that this test needs no more, and checks that it ends properly.
   *
   * @param some the children
   * @throws Exception if one does not
   */
  public void stop(Child... some) throws Exception {
    for (Child child : some) {
      child.closeInput();
    }
    for (Child child : some) {
      child.awaitExit(0);
    }
  }

  Path crashFile() {
    return scratch.resolve("crash-%p.log");
  }

  Child adopt(String name, ChildSpec spec, Process process) {
    Child child = new Child(name + "-" + children.size(), spec, process);
    children.add(child);
    return child;
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    if (context.getExecutionException().isPresent()
        && !(context.getExecutionException().get()
            instanceof org.opentest4j.TestAbortedException)) {
      System.err.println("##### " + context.getDisplayName() + " failed\n" + dump());
    }
  }

  private String dump() {
    StringBuilder text = new StringBuilder();
    int dead = 0;
    for (Child child : children) {
      if (!child.alive() && !child.endedRoughly() && ++dead > 4) {
        continue;
      }
      text.append(child.dump());
      try {
        text.append("--- connections\n")
            .append(Transports.describe(Transports.of(child)))
            .append('\n');
      } catch (IOException e) {
        text.append("--- no connections: ").append(e).append('\n');
      }
    }
    text.append("=== files left\n").append(String.join("\n", leftovers())).append('\n');
    try (Stream<Path> files = Files.list(scratch)) {
      for (Path file : files.filter(f -> f.getFileName().toString().startsWith("crash")).toList()) {
        text.append("=== ").append(file).append('\n').append(Files.readString(file));
      }
    } catch (IOException e) {
      text.append(e).append('\n');
    }
    return text.toString();
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    List<String> complaints = new ArrayList<>();
    boolean passed = context.getExecutionException().isEmpty();
    boolean killed = endAll(complaints);
    if (passed && (killed || sweepNeeded) && !leaksAllowed) {
      sweep();
    }
    List<String> left = leftovers();
    if (passed && !leaksAllowed && !left.isEmpty()) {
      complaints.add("files left behind:\n" + String.join("\n", left) + "\nby " + children);
    }
    for (Undo undo : undos) {
      undo.run();
    }
    delete(scratch);
    delete(shared);
    if (passed && !complaints.isEmpty()) {
      throw new AssertionError(String.join("\n", complaints));
    }
  }

  /** Ends every child; true if one with the agent had no chance to tidy up. */
  private boolean endAll(List<String> complaints) throws InterruptedException {
    boolean killed = false;
    for (Child child : children) {
      child.closeInput();
    }
    for (Child child : children) {
      if (!child.awaitExitQuietly(Child.PATIENCE)) {
        complaints.add("did not end when told to:\n" + child.dump());
        child.kill();
      }
      killed |= child.endedRoughly() && child.spec().flavour().accelerated();
    }
    return killed;
  }

  /**
   * Starts one more process with the agent: before it announces its listener it must have swept up
   * what the killed ones left.
   */
  private void sweep() throws IOException, InterruptedException {
    if (Settings.agent().isEmpty()) {
      return;
    }
    Child sweeper =
        child(Flavour.TALARIA, io.talaria.it.programs.Survivor.class).arg("role", "server").start();
    Announced.await(talariaDir(), sweeper.await("listening").port());
    sweeper.stop();
  }

  private List<String> leftovers() {
    List<String> left = new ArrayList<>();
    for (Path dir : List.of(talariaDir(), shmDir())) {
      if (Files.isDirectory(dir)) {
        try (Stream<Path> files = Files.walk(dir)) {
          files.filter(file -> !file.equals(dir)).map(Path::toString).forEach(left::add);
        } catch (IOException e) {
          left.add(dir + ": " + e);
        }
      }
    }
    return left;
  }

  private static void delete(Path dir) throws IOException {
    if (!Files.exists(dir)) {
      return;
    }
    try (Stream<Path> files = Files.walk(dir)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** How long a child may take to notice something. */
  public static final Duration NOTICE = Duration.ofSeconds(1);
}
