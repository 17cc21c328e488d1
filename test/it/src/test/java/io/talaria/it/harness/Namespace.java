// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
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

  /** Of 10.213.78.0/24, of which each namespace has a network of four addresses. */
  private static final String ADDRESSES = "10.213.78.";

  private static final int NETWORKS = 64;

  private final String name;
  private final int network;
  private final String outer;
  private final String inner;

  private Namespace(String name, int network) {
    this.name = "talaria-it-" + name;
    this.network = network;
    outer = name + "o";
    inner = name + "i";
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
    long pid = ProcessHandle.current().pid() % 1_000_000;
    Namespace made = new Namespace("tl" + pid + "-" + MADE.incrementAndGet(), freeNetwork());
    try {
      Proc.run("ip", "netns", "add", made.name);
    } catch (IOException e) {
      abort("no network namespace can be made: " + e.getMessage());
    }
    lab.afterwards(() -> Proc.run("ip", "netns", "delete", made.name));
    Proc.run("ip", "link", "add", made.outer, "type", "veth", "peer", "name", made.inner);
    lab.afterwards(() -> Proc.run("ip", "link", "delete", made.outer));
    Proc.run("ip", "link", "set", made.inner, "netns", made.name);
    Proc.run("ip", "address", "add", made.outerAddress() + "/30", "dev", made.outer);
    Proc.run("ip", "link", "set", made.outer, "up");
    made.ip("address", "add", made.innerAddress() + "/30", "dev", made.inner);
    made.ip("link", "set", made.inner, "up");
    made.ip("link", "set", "lo", "up");
    return made;
  }

  /**
   * Finds a network that no interface here is in. A test that was killed leaves its interface and
   * its namespace, which would take connections to the addresses of the next one.
   */
  private static int freeNetwork() throws SocketException {
    int first = (int) (ProcessHandle.current().pid() % NETWORKS);
    List<String> taken =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .map(InetAddress::getHostAddress)
            .toList();
    for (int tried = 0; tried < NETWORKS; tried++) {
      int network = (first + tried) % NETWORKS;
      if (!taken.contains(outerAddress(network))) {
        return network;
      }
    }
    return abort("an interface has each of " + ADDRESSES + "0/24: delete those that tests left");
  }

  private static String outerAddress(int network) {
    return ADDRESSES + (4 * network + 1);
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
   * The address of this end.
   *
   * @return in the same network of four as {@link #innerAddress}
   */
  public String outerAddress() {
    return outerAddress(network);
  }

  /**
   * The address of the end in the namespace.
   *
   * @return of an IPv4 network that no other interface is in
   */
  public String innerAddress() {
    return ADDRESSES + (4 * network + 2);
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
