// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import java.util.List;
import java.util.Map;

/** What JMX shows of Talaria in this process, as {@code io.talaria.nio:type=Talaria}. */
public interface TalariaMXBean {
  /**
   * All connections and listeners that are open now, oldest first.
   *
   * @return a copy
   */
  List<ConnectionView> getConnections();

  /**
   * How many connections and listeners are open now, by the code of their transport.
   *
   * @return a number for each transport there is
   */
  Map<String, Long> getConnectionsByTransport();

  /**
   * How many connections and listeners are open now, by the code of their reason.
   *
   * @return a number for each reason that occurs
   */
  Map<String, Long> getConnectionsByReason();

  /**
   * How many upgrades did not come about so far, by the code of the reason.
   *
   * @return a number for each reason that occurred
   */
  Map<String, Long> getRefused();

  /**
   * What the process has done in all so far, by name.
   *
   * @return names in camel case and their numbers
   */
  Map<String, Long> getTotals();

  /**
   * The counters file.
   *
   * @return its path, or empty if there is none
   */
  String getCountersFile();
}
