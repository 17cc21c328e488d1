// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.Counter;
import io.talaria.monitor.CounterSource;
import io.talaria.monitor.fabric.binding.FabricConstants;
import java.util.ArrayList;
import java.util.List;

/** The counters of a performance query: which field of which attribute each of them is. */
final class RemoteCounters {
  /**
   * In the order of the fields from {@link FabricConstants#IB_PC_ERR_SYM_F} on; null for a mask.
   */
  private static final String[] NAMES = {
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_discards",
    "port_xmit_constraint_errors",
    "port_rcv_constraint_errors",
    null, // CounterSelect2
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
    "port_xmit_data",
    "port_rcv_data",
    "port_xmit_packets",
    "port_rcv_packets",
    "port_xmit_wait"
  };

  /** In the order of the fields from {@link FabricConstants#IB_PC_EXT_XMT_BYTES_F} on. */
  private static final String[] EXTENDED_NAMES = {
    "port_xmit_data",
    "port_rcv_data",
    "port_xmit_packets",
    "port_rcv_packets",
    "unicast_xmit_packets",
    "unicast_rcv_packets",
    "multicast_xmit_packets",
    "multicast_rcv_packets"
  };

  private static final int EXTENDED_WITHOUT_CASTS = 4;

  /** Which counters a port has, and where. One for each set of capabilities. */
  static final RemoteCounters PLAIN = new RemoteCounters(0, false);

  static final RemoteCounters PLAIN_WITH_WAIT = new RemoteCounters(0, true);
  static final RemoteCounters EXTENDED = new RemoteCounters(EXTENDED_NAMES.length, false);
  static final RemoteCounters EXTENDED_WITH_WAIT = new RemoteCounters(EXTENDED_NAMES.length, true);
  static final RemoteCounters NO_CASTS = new RemoteCounters(EXTENDED_WITHOUT_CASTS, false);
  static final RemoteCounters NO_CASTS_WITH_WAIT = new RemoteCounters(EXTENDED_WITHOUT_CASTS, true);

  private final List<Counter> counters;
  private final int[] fields;
  private final int extended;

  private RemoteCounters(int extended, boolean wait) {
    this.extended = extended;
    List<Counter> all = new ArrayList<>();
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < extended; i++) {
      all.add(Counter.named(CounterSource.PMA_EXTENDED, EXTENDED_NAMES[i]));
      numbers.add(FabricConstants.IB_PC_EXT_XMT_BYTES_F + i);
    }
    for (int i = 0; i < NAMES.length; i++) {
      int field = FabricConstants.IB_PC_ERR_SYM_F + i;
      boolean traffic =
          field >= FabricConstants.IB_PC_XMT_BYTES_F && field < FabricConstants.IB_PC_XMT_WAIT_F;
      if (NAMES[i] != null
          && !(traffic && extended > 0)
          && (wait || field != FabricConstants.IB_PC_XMT_WAIT_F)) {
        all.add(Counter.named(CounterSource.PMA, NAMES[i]));
        numbers.add(field);
      }
    }
    counters = List.copyOf(all);
    fields = numbers.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * Chooses by the capability mask of a ClassPortInfo (IBTA: bit 9 extended counters, 10 those
   * without unicast and multicast, 12 PortXmitWait).
   */
  static RemoteCounters of(int capabilities) {
    boolean wait = (capabilities & 1 << 12) != 0;
    if ((capabilities & 1 << 9) != 0) {
      return wait ? EXTENDED_WITH_WAIT : EXTENDED;
    }
    if ((capabilities & 1 << 10) != 0) {
      return wait ? NO_CASTS_WITH_WAIT : NO_CASTS;
    }
    return wait ? PLAIN_WITH_WAIT : PLAIN;
  }

  List<Counter> counters() {
    return counters;
  }

  /** The field of a counter. */
  int field(int index) {
    return fields[index];
  }

  /** How many of them, from the first on, are of the extended attribute. */
  int extended() {
    return extended;
  }

  boolean hasWait() {
    return fields[fields.length - 1] == FabricConstants.IB_PC_XMT_WAIT_F;
  }
}
