// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A network namespace for one test, in which only the loopback interface is up. Needs root and the
 * command {@code ip}; without them the test is skipped.
 */
public final class Namespace {
  /** Names are used once: a deleted namespace takes its interfaces along only later. */
  private static final AtomicInteger MADE = new AtomicInteger();

  private final String name;

  private Namespace(String name) {
    this.name = name;
  }

  /**
   * Makes one, until the test is over.
   *
   * @param lab the test's
   * @return the namespace
   * @throws Exception if a command fails
   */
  public static Namespace make(Lab lab) throws Exception {
    assumeTrue(Proc.root(), "not root: no network namespace can be made");
    Namespace made =
        new Namespace("talaria-it-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet());
    try {
      Proc.run("ip", "netns", "add", made.name);
    } catch (IOException e) {
      abort("no network namespace can be made: " + e.getMessage());
    }
    lab.afterwards(() -> Proc.run("ip", "netns", "delete", made.name));
    made.ip("link", "set", "lo", "up");
    return made;
  }

  /**
   * What the command {@code ip} knows it by.
   *
   * @return its name
   */
  String name() {
    return name;
  }

  /**
   * Runs the command {@code ip} in it.
   *
   * @param words its arguments
   * @throws Exception if it fails
   */
  public void ip(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("ip", "-n", name));
    command.addAll(List.of(words));
    Proc.run(command.toArray(String[]::new));
  }

  /**
   * The words that run a command in it.
   *
   * @param more words to follow
   * @return for {@link ChildSpec#under}
   */
  public String[] inside(String... more) {
    List<String> words = new ArrayList<>(List.of("ip", "netns", "exec", name));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  /**
   * Runs a command in it.
   *
   * @param words the command
   * @throws Exception if it fails
   */
  public void run(String... words) throws Exception {
    Proc.run(inside(words));
  }
}
