// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.JoinedNamespace;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Survivor;
import io.talaria.nio.Reason;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two network namespaces of one host share its memory and its files, but not its addresses: between
 * them connections stay on TCP unless they are told to share. Needs root and the command {@code
 * ip}.
 */
class NamespaceTest {
  @RegisterExtension final Lab lab = new Lab();

  private JoinedNamespace namespace;

  @BeforeEach
  void makeNamespace() throws Exception {
    namespace = JoinedNamespace.make(lab);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void betweenNamespacesItStaysPlain(Pair pair) throws Exception {
    Exchange exchange = new Exchange(lab, pair);
    exchange.serverSpec().arg("bind", "0.0.0.0").under(namespace.inside());
    exchange.clientSpec().arg("host", namespace.innerAddress());
    exchange.run();
    if (pair.accelerated()) {
      Transports.awaitPlain(exchange.client(), Reason.NOT_LOCAL, Reason.OTHER_NAMESPACE);
      Transports.awaitPlain(exchange.server(), Reason.NO_OFFER, Reason.NOT_LOCAL);
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
            .under(namespace.inside())
            .start();
    int port = other.await("listening").port();
    Exchange exchange = new Exchange(lab, new Pair(Flavour.PLAIN, Flavour.TALARIA));
    exchange.serverSpec().arg("port", port);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.OTHER_NAMESPACE);
    exchange.end();
    lab.stop(other);
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void withinOneNamespaceItIsAccelerated() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().arg("bind", namespace.innerAddress()).under(namespace.inside());
    exchange.clientSpec().arg("host", namespace.innerAddress()).under(namespace.inside());
    exchange.run().expectTransport().end();
  }
}
