// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Modes;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.programs.Survivor;
import io.talaria.nio.Reason;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two network namespaces of one host share its memory and its files, but not its addresses: between
 * them connections stay plain. Needs root and the command {@code ip}.
 */
class NamespaceTest {
  private static final String INSIDE = "10.213.77.2";

  @RegisterExtension final Lab lab = new Lab();

  /** Of its own for each test: a deleted namespace takes its interfaces along only later. */
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final String name =
      "tl" + ProcessHandle.current().pid() % 1_000_000 + "-" + NUMBERS.incrementAndGet();

  private final String namespace = "talaria-it-" + name;
  private final String outer = name + "o";
  private final String inner = name + "i";

  @BeforeEach
  void makeNamespace() throws Exception {
    assumeTrue(Proc.root(), "not root: no network namespace can be made");
    try {
      Proc.run("ip", "netns", "add", namespace);
    } catch (IOException e) {
      abort("no network namespace can be made: " + e.getMessage());
    }
    lab.afterwards(() -> Proc.run("ip", "netns", "delete", namespace));
    Proc.run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner);
    lab.afterwards(() -> Proc.run("ip", "link", "delete", outer));
    Proc.run("ip", "link", "set", inner, "netns", namespace);
    Proc.run("ip", "address", "add", "10.213.77.1/30", "dev", outer);
    Proc.run("ip", "link", "set", outer, "up");
    inside("address", "add", INSIDE + "/30", "dev", inner);
    inside("link", "set", inner, "up");
    inside("link", "set", "lo", "up");
  }

  private void inside(String... words) throws Exception {
    String[] command = new String[3 + words.length];
    command[0] = "ip";
    command[1] = "-n";
    command[2] = namespace;
    System.arraycopy(words, 0, command, 3, words.length);
    Proc.run(command);
  }

  private String[] inNamespace() {
    return new String[] {"ip", "netns", "exec", namespace};
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void betweenNamespacesItStaysPlain(Pair pair) throws Exception {
    Exchange exchange = new Exchange(lab, pair);
    exchange.serverSpec().arg("bind", "0.0.0.0").under(inNamespace());
    exchange.clientSpec().arg("host", INSIDE);
    exchange.run();
    if (pair.accelerated()) {
      Modes.awaitPlain(exchange.client(), Reason.NOT_LOCAL, Reason.OTHER_NAMESPACE);
      Modes.awaitPlain(exchange.server(), Reason.NO_OFFER, Reason.NOT_LOCAL);
    }
    exchange.end();
  }

  static java.util.List<Pair> pairs() {
    return Pair.noneAndBoth();
  }

  /** Another namespace's listener is announced with the same loopback address and port. */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void sameAddressOfAnotherNamespaceIsNotMeant() throws Exception {
    Child other =
        lab.child(Flavour.TALARIA, Survivor.class)
            .arg("role", "server")
            .under(inNamespace())
            .start();
    int port = other.await("listening").port();
    Exchange exchange = new Exchange(lab, new Pair(Flavour.PLAIN, Flavour.TALARIA));
    exchange.serverSpec().arg("port", port);
    exchange.run();
    Modes.awaitPlain(exchange.client(), Reason.OTHER_NAMESPACE);
    exchange.end();
    lab.stop(other);
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void withinOneNamespaceItIsAccelerated() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().arg("bind", INSIDE).under(inNamespace());
    exchange.clientSpec().arg("host", INSIDE).under(inNamespace());
    exchange.run().expectMode().end();
  }
}
