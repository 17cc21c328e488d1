// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A bridge for one test, as container engines make them, in a {@link Namespace} of its own, and
 * others that are joined to it. Confined to the test's thread.
 */
public final class Bridge {
  private static final AtomicInteger MADE = new AtomicInteger();
  private static final String BRIDGE = "br0";

  private final Lab lab;
  private final Namespace router;

  private Bridge(Lab lab, Namespace router) {
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
    Bridge bridge = new Bridge(lab, Namespace.make(lab));
    bridge.router.ip("link", "add", BRIDGE, "type", "bridge");
    bridge.router.ip("link", "set", BRIDGE, "up");
    return bridge;
  }

  /**
   * The namespace of the bridge, which reaches its members once it has {@linkplain #address an
   * address}, and routes between two bridges that {@linkplain #join it is joined to}.
   *
   * @return as a member, though it is none
   */
  public Namespace router() {
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
  public Namespace member(String address) throws Exception {
    Namespace made = Namespace.make(lab);
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
  public void join(Namespace member, String device, String address) throws Exception {
    String outer = "v" + MADE.incrementAndGet();
    router.ip("link", "add", outer, "type", "veth", "peer", device, "netns", member.name());
    router.ip("link", "set", outer, "master", BRIDGE);
    router.ip("link", "set", outer, "up");
    member.ip("address", "add", address, "dev", device);
    member.ip("link", "set", device, "up");
  }
}
