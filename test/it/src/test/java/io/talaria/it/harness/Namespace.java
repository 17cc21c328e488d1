// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A network namespace for one test, joined with the tests' own by a pair of interfaces. Needs root
 * and the command {@code ip}; without them the test is skipped.
 */
public final class Namespace {
  /** Names are used once: a deleted namespace takes its interfaces along only later. */
  private static final AtomicInteger MADE = new AtomicInteger();

  private final String name;
  private final String outer;
  private final String inner;

  private Namespace(String name) {
    this.name = "talaria-it-" + name;
    outer = name + "o";
    inner = name + "i";
  }

  /**
   * Makes one, until the test is over.
   *
   * @param lab the test's
   * @param outside the address of this end, in a network of four
   * @param inside the address of the end in the namespace
   * @return the namespace
   * @throws Exception if a command fails
   */
  public static Namespace make(Lab lab, String outside, String inside) throws Exception {
    assumeTrue(Proc.root(), "not root: no network namespace can be made");
    long pid = ProcessHandle.current().pid() % 1_000_000;
    Namespace made = new Namespace("tl" + pid + "-" + MADE.incrementAndGet());
    try {
      Proc.run("ip", "netns", "add", made.name);
    } catch (IOException e) {
      abort("no network namespace can be made: " + e.getMessage());
    }
    lab.afterwards(() -> Proc.run("ip", "netns", "delete", made.name));
    Proc.run("ip", "link", "add", made.outer, "type", "veth", "peer", "name", made.inner);
    lab.afterwards(() -> Proc.run("ip", "link", "delete", made.outer));
    Proc.run("ip", "link", "set", made.inner, "netns", made.name);
    Proc.run("ip", "address", "add", outside + "/30", "dev", made.outer);
    Proc.run("ip", "link", "set", made.outer, "up");
    made.ip("address", "add", inside + "/30", "dev", made.inner);
    made.ip("link", "set", made.inner, "up");
    made.ip("link", "set", "lo", "up");
    return made;
  }

  private void ip(String... words) throws Exception {
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
   * This end of the pair of interfaces.
   *
   * @return its name
   */
  public String outerInterface() {
    return outer;
  }

  /**
   * The end in the namespace.
   *
   * @return its name
   */
  public String innerInterface() {
    return inner;
  }
}
