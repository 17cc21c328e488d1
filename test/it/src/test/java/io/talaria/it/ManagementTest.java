// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.tools.attach.VirtualMachine;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.programs.Managed;
import io.talaria.it.programs.Talk;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a management console in another JVM sees of a process with the agent. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class ManagementTest {
  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    return Stream.of(
        Arguments.of(Pair.BOTH, "the program"),
        Arguments.of(Pair.withOldJava().get(0), "talaria.jmx"));
  }

  /** Looks at a bean. */
  private interface Look {
    void at(MBeanServerConnection server, ObjectName bean) throws Exception;
  }

  @SuppressWarnings("BanJNDI") // The address is that of a child of this test.
  private static void lookAt(Child child, Look look) throws Exception {
    VirtualMachine machine = VirtualMachine.attach(Long.toString(child.pid()));
    String address;
    try {
      address = machine.startLocalManagementAgent();
    } finally {
      machine.detach();
    }
    try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
      look.at(connector.getMBeanServerConnection(), new ObjectName("io.talaria.nio:type=Talaria"));
    }
  }

  private static Map<String, Long> numbers(Object attribute) {
    Map<String, Long> numbers = new TreeMap<>();
    for (Object row : ((TabularData) attribute).values()) {
      CompositeData entry = (CompositeData) row;
      numbers.put((String) entry.get("key"), (Long) entry.get("value"));
    }
    return numbers;
  }

  @ParameterizedTest(name = "{0}, registered by {1}")
  @MethodSource("cases")
  void theBeanShowsTheConnections(Pair pair, String by) throws Exception {
    pair.assume();
    boolean byItself = by.equals("the program");
    Exchange exchange = new Exchange(lab, pair, byItself ? Managed.class : Talk.class);
    exchange.serverSpec().property("talaria.jmx", byItself ? null : "true");
    exchange.run().expectTransport();
    exchange.again(); // the server may have written all before the switch

    lookAt(
        exchange.server(),
        (server, bean) -> {
          CompositeData[] all = (CompositeData[]) server.getAttribute(bean, "Connections");
          assertThat(all).hasSize(2);
          assertThat(all[0].get("role")).isEqualTo("listener");
          assertThat(all[0].get("remoteAddress")).isEqualTo("");
          CompositeData accepted = all[1];
          assertThat(accepted.get("role")).isEqualTo("accepted");
          assertThat(accepted.get("transport")).isEqualTo("shm");
          assertThat(accepted.get("reason")).isEqualTo("same-host");
          assertThat((String) accepted.get("detail")).startsWith("ring ");
          long in = (long) accepted.get("acceleratedInBytes") + (long) accepted.get("tcpInBytes");
          assertThat(in).isPositive().isEqualTo(in / (512 << 10) * (512 << 10));
          assertThat((long) accepted.get("acceleratedOutBytes")).isPositive();
          assertThat((int) accepted.get("ringInBytes")).isGreaterThanOrEqualTo(1 << 10);
          assertThat(numbers(server.getAttribute(bean, "ConnectionsByTransport")))
              .isEqualTo(Map.of("tcp", 0L, "shm", 2L, "ucx", 0L));
          assertThat(numbers(server.getAttribute(bean, "ConnectionsByReason")))
              .isEqualTo(Map.of("announced", 1L, "same-host", 1L));
          assertThat(numbers(server.getAttribute(bean, "Refused"))).isEmpty();
          assertThat(numbers(server.getAttribute(bean, "Totals")))
              .containsEntry("listeners", 1L)
              .containsEntry("connections", 1L)
              .containsEntry("acceptedByUs", 1L)
              .containsEntry("sessions", 1L);
          assertThat((String) server.getAttribute(bean, "CountersFile"))
              .startsWith(lab.talariaDir() + "/" + exchange.server().pid() + "-");
        });
    exchange.end();
  }
}
