// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A bridge for one test, as container engines make them, in a network namespace of its own, and
 * network namespaces that are joined to it. Needs root and the command {@code ip}; without them the
 * test is skipped. Confined to the test's thread.
 */
public final class Bridge {
  private static final AtomicInteger MADE = new AtomicInteger();
  private static final String BRIDGE = "br0";

  private final Lab lab;
  private final Member router;

  /** A network namespace. */
  public static final class Member {
    private final String name;

    private Member(String name) {
      this.name = name;
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

  private Bridge(Lab lab, Member router) {
    this.lab = lab;
    this.router = router;
  }

  /**
   * Makes one, until the test is over.
   *
   * @param lab the test's
   * @return the bridge, without members
   * @throws Exception if a command fails
   */
  public static Bridge make(Lab lab) throws Exception {
    assumeTrue(Proc.root(), "not root: no network namespace can be made");
    Bridge bridge = new Bridge(lab, namespace(lab));
    bridge.router.ip("link", "add", BRIDGE, "type", "bridge");
    bridge.router.ip("link", "set", BRIDGE, "up");
    return bridge;
  }

  private static Member namespace(Lab lab) throws Exception {
    long pid = ProcessHandle.current().pid() % 1_000_000;
    Member made = new Member("talaria-it-b" + pid + "-" + MADE.incrementAndGet());
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
   * The namespace of the bridge, which reaches its members once it has {@linkplain #address an
   * address}, and routes between two bridges that {@linkplain #join it is joined to}.
   *
   * @return as a member, though it is none
   */
  public Member router() {
    return router;
  }

  /**
   * Gives the bridge's own namespace an address on it.
   *
   * @param address with the length of its prefix
   * @return this
   * @throws Exception if a command fails
   */
  public Bridge address(String address) throws Exception {
    router.ip("address", "add", address, "dev", BRIDGE);
    return this;
  }

  /**
   * Makes a network namespace that is joined to the bridge by its interface {@code eth0}.
   *
   * @param address with the length of its prefix
   * @return the namespace
   * @throws Exception if a command fails
   */
  public Member member(String address) throws Exception {
    Member made = namespace(lab);
    join(made, "eth0", address);
    return made;
  }

  /**
   * Joins a network namespace to the bridge.
   *
   * @param member the namespace
   * @param device the name of its new interface
   * @param address with the length of its prefix
   * @throws Exception if a command fails
   */
  public void join(Member member, String device, String address) throws Exception {
    String outer = "v" + MADE.incrementAndGet();
    router.ip("link", "add", outer, "type", "veth", "peer", device, "netns", member.name);
    router.ip("link", "set", outer, "master", BRIDGE);
    router.ip("link", "set", outer, "up");
    member.ip("address", "add", address, "dev", device);
    member.ip("link", "set", device, "up");
  }
}
