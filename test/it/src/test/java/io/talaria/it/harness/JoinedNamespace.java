// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.abort;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A {@link Namespace} that is joined with the tests' own by a pair of interfaces, each of which has
 * an address.
 */
public final class JoinedNamespace {
  private static final AtomicInteger MADE = new AtomicInteger();

  /** Of 10.213.78.0/24, of which each namespace has a network of four addresses. */
  private static final String ADDRESSES = "10.213.78.";

  private static final int NETWORKS = 64;

  private final Namespace namespace;
  private final int network;
  private final String outer;
  private final String inner;

  private JoinedNamespace(Namespace namespace, String interfaces, int network) {
    this.namespace = namespace;
    this.network = network;
    outer = interfaces + "o";
    inner = interfaces + "i";
  }

  /**
   * Makes one, until the test is over.
   *
   * @param lab the test's
   * @return the namespace
   * @throws Exception if a command fails
   */
  public static JoinedNamespace make(Lab lab) throws Exception {
    // The name of an interface has at most 15 characters.
    long pid = ProcessHandle.current().pid() % 1_000_000;
    String interfaces = "tl" + pid + "-" + MADE.incrementAndGet();
    JoinedNamespace made = new JoinedNamespace(Namespace.make(lab), interfaces, freeNetwork());
    Proc.run("ip", "link", "add", made.outer, "type", "veth", "peer", "name", made.inner);
    lab.afterwards(() -> Proc.run("ip", "link", "delete", made.outer));
    Proc.run("ip", "link", "set", made.inner, "netns", made.namespace.name());
    Proc.run("ip", "address", "add", made.outerAddress() + "/30", "dev", made.outer);
    Proc.run("ip", "link", "set", made.outer, "up");
    made.namespace.ip("address", "add", made.innerAddress() + "/30", "dev", made.inner);
    made.namespace.ip("link", "set", made.inner, "up");
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

  /**
   * The words that run a command in it.
   *
   * @param more words to follow
   * @return for {@link ChildSpec#under}
   */
  public String[] inside(String... more) {
    return namespace.inside(more);
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
