// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.privileged.Privileged;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Shows Talaria in JMX. Starting JMX is costly, so nothing is registered until a caller asks; where
 * the JVM has no JMX, nothing ever is.
 */
public final class TalariaManagement {
  /** The name under which Talaria is found in the platform's MBean server. */
  public static final String OBJECT_NAME = "io.talaria.nio:type=Talaria";

  private TalariaManagement() {}

  /**
   * Registers the bean with the platform's MBean server. Any thread may call it, as often as it
   * likes.
   *
   * @return whether the bean is registered now
   */
  public static boolean register() {
    try {
      return Privileged.get(Registration::register);
    } catch (LinkageError e) {
      return false;
    }
  }

  /** Apart, so that the outer class can be loaded without JMX. */
  private static final class Registration {
    private Registration() {}

    static boolean register() {
      try {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        server.registerMBean(new Bean(), new ObjectName(OBJECT_NAME));
        return true;
      } catch (InstanceAlreadyExistsException e) {
        return true;
      } catch (JMException | SecurityException e) {
        return false;
      }
    }
  }

  private static final class Bean implements TalariaMXBean {
    @Override
    public List<ConnectionView> getConnections() {
      return Connections.snapshot().stream().map(ConnectionView::new).toList();
    }

    @Override
    public Map<String, Long> getConnectionsByTransport() {
      Map<String, Long> counts = new TreeMap<>();
      for (NioTransport transport : NioTransport.values()) {
        counts.put(transport.code(), 0L);
      }
      for (ConnectionInfo connection : Connections.snapshot()) {
        counts.merge(connection.transport().code(), 1L, Long::sum);
      }
      return counts;
    }

    @Override
    public Map<String, Long> getConnectionsByReason() {
      Map<String, Long> counts = new TreeMap<>();
      for (ConnectionInfo connection : Connections.snapshot()) {
        counts.merge(connection.reason().code(), 1L, Long::sum);
      }
      return counts;
    }

    @Override
    public Map<String, Long> getRefused() {
      Map<String, Long> counts = new TreeMap<>();
      ProcessCounters counters = ProcessCounters.current();
      if (counters != null) {
        counters.totals().refused().forEach((reason, count) -> counts.put(reason.code(), count));
      }
      return counts;
    }

    @Override
    public Map<String, Long> getTotals() {
      ProcessCounters counters = ProcessCounters.current();
      return counters == null ? Map.of() : named(counters.totals());
    }

    @Override
    public String getCountersFile() {
      ProcessCounters counters = ProcessCounters.current();
      Path path = counters == null ? null : counters.path();
      return path == null ? "" : path.toString();
    }

    private static Map<String, Long> named(ProcessTotals totals) {
      Map<String, Long> named = new LinkedHashMap<>();
      named.put("listeners", totals.listeners());
      named.put("connections", totals.connections());
      named.put("opened", totals.opened());
      named.put("closed", totals.closed());
      named.put("offersMade", totals.offersMade());
      named.put("offersReceived", totals.offersReceived());
      named.put("acceptedByPeer", totals.acceptedByPeer());
      named.put("acceptedByUs", totals.acceptedByUs());
      named.put("sessions", totals.sessions());
      named.put("sessionsOpened", totals.sessionsOpened());
      named.put("selectors", totals.selectors().open());
      named.put("selects", totals.selectors().selects());
      named.put("innerSelects", totals.selectors().innerSelects());
      named.put("wakeUps", totals.selectors().wakeUps());
      named.put("acceleratedInBytes", totals.acceleratedInBytes());
      named.put("acceleratedOutBytes", totals.acceleratedOutBytes());
      named.put("tcpInBytes", totals.tcpInBytes());
      named.put("tcpOutBytes", totals.tcpOutBytes());
      named.put("reads", totals.reads());
      named.put("writes", totals.writes());
      named.put("stalls", totals.stalls());
      named.put("wakeupsSent", totals.wakeupsSent());
      named.put("wakeupsReceived", totals.wakeupsReceived());
      named.put("sleeps", totals.sleeps());
      named.put("wakeupsMissed", totals.wakeupsMissed());
      return named;
    }
  }
}
