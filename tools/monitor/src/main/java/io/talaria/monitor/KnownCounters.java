// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The one table of counters by name. docs/monitor.md has it for readers; a test compares the two.
 */
final class KnownCounters {
  /** InfiniBand counts data in words of this many bytes. */
  static final int WORD_BYTES = 4;

  private static final Map<String, Counter> PORT = new HashMap<>();
  private static final Map<String, Counter> HARDWARE = new HashMap<>();
  private static final Map<String, Counter> NET = new HashMap<>();

  static {
    port("port_xmit_data", CounterKind.DATA, CounterUnit.BYTES, Traffic.SENT, 32);
    port("port_rcv_data", CounterKind.DATA, CounterUnit.BYTES, Traffic.RECEIVED, 32);
    port("port_xmit_packets", CounterKind.PACKETS, CounterUnit.PACKETS, Traffic.SENT, 32);
    port("port_rcv_packets", CounterKind.PACKETS, CounterUnit.PACKETS, Traffic.RECEIVED, 32);
    for (String name :
        new String[] {
          "unicast_xmit_packets",
          "unicast_rcv_packets",
          "multicast_xmit_packets",
          "multicast_rcv_packets"
        }) {
      PORT.put(
          name, counter(name, CounterKind.PACKETS, CounterUnit.PACKETS, 1, Traffic.NONE, true, 64));
    }
    portErrors(16, "symbol_error");
    portErrors(8, "link_error_recovery", "link_downed");
    portErrors(
        16,
        "port_rcv_errors",
        "port_rcv_remote_physical_errors",
        "port_rcv_switch_relay_errors",
        "port_xmit_discards");
    portErrors(8, "port_xmit_constraint_errors", "port_rcv_constraint_errors");
    portErrors(4, "local_link_integrity_errors", "excessive_buffer_overrun_errors");
    portErrors(16, "vl15_dropped");
    port("port_xmit_wait", CounterKind.CONGESTION, CounterUnit.TICKS, Traffic.NONE, 32);

    hardware("sent_pkts", CounterKind.PACKETS, CounterUnit.PACKETS, Traffic.SENT);
    hardware("rcvd_pkts", CounterKind.PACKETS, CounterUnit.PACKETS, Traffic.RECEIVED);
    // Soft-RoCE.
    hardwareErrors(
        "duplicate_request",
        "out_of_seq_request",
        "rcvd_rnr_err",
        "send_rnr_err",
        "rcvd_seq_err",
        "retry_exceeded_err",
        "retry_rnr_exceeded_err",
        "completer_retry_err",
        "send_err",
        "link_downed");
    hardwareEvents("ack_deferred", "ack_deffered", "rdma_sends", "rdma_recvs");
    // NVIDIA's mlx4 and mlx5.
    hardwareErrors(
        "out_of_buffer",
        "out_of_sequence",
        "rnr_nak_retry_err",
        "packet_seq_err",
        "implied_nak_seq_err",
        "local_ack_timeout_err",
        "resp_local_length_error",
        "resp_cqe_error",
        "resp_cqe_flush_error",
        "resp_remote_access_errors",
        "req_cqe_error",
        "req_cqe_flush_error",
        "req_remote_invalid_request",
        "req_remote_access_errors",
        "rx_icrc_encapsulated",
        "roce_adp_retrans_to");
    hardwareEvents(
        "rx_write_requests",
        "rx_read_requests",
        "rx_atomic_requests",
        "rx_dct_connect",
        "roce_adp_retrans",
        "roce_slow_restart",
        "roce_slow_restart_cnps",
        "roce_slow_restart_trans");
    for (String name :
        new String[] {
          "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored"
        }) {
      hardware(name, CounterKind.CONGESTION, CounterUnit.PACKETS, Traffic.NONE);
    }

    net("tx_bytes", CounterKind.DATA, CounterUnit.BYTES, Traffic.SENT, false);
    net("rx_bytes", CounterKind.DATA, CounterUnit.BYTES, Traffic.RECEIVED, false);
    net("tx_packets", CounterKind.PACKETS, CounterUnit.PACKETS, Traffic.SENT, false);
    net("rx_packets", CounterKind.PACKETS, CounterUnit.PACKETS, Traffic.RECEIVED, false);
    for (String name : new String[] {"multicast", "rx_compressed", "tx_compressed"}) {
      net(name, CounterKind.PACKETS, CounterUnit.PACKETS, Traffic.NONE, true);
    }
    // Drivers count packets for which the host was too slow in rx_missed_errors, and do not add
    // them to rx_errors or rx_dropped (linux/if_link.h).
    for (String name :
        new String[] {
          "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_missed_errors", "collisions"
        }) {
      net(name, CounterKind.ERRORS, CounterUnit.EVENTS, Traffic.NONE, false);
    }
    // Not a failure: a link that is not to receive, such as the backup link of a bond, counts all
    // that comes.
    net("rx_nohandler", CounterKind.OTHER, CounterUnit.EVENTS, Traffic.NONE, false);
    // The kernel has these in rx_errors or tx_errors already.
    for (String name :
        new String[] {
          "rx_length_errors",
          "rx_over_errors",
          "rx_crc_errors",
          "rx_frame_errors",
          "rx_fifo_errors",
          "tx_aborted_errors",
          "tx_carrier_errors",
          "tx_fifo_errors",
          "tx_heartbeat_errors",
          "tx_window_errors"
        }) {
      net(name, CounterKind.ERRORS, CounterUnit.EVENTS, Traffic.NONE, true);
    }
  }

  private KnownCounters() {}

  private static Counter counter(
      String name,
      CounterKind kind,
      CounterUnit unit,
      int factor,
      Traffic traffic,
      boolean part,
      int bits) {
    return new Counter(name, CounterSource.PMA, kind, unit, factor, traffic, part, bits);
  }

  private static void port(
      String name, CounterKind kind, CounterUnit unit, Traffic traffic, int bits) {
    int factor = unit == CounterUnit.BYTES ? WORD_BYTES : 1;
    PORT.put(name, counter(name, kind, unit, factor, traffic, false, bits));
  }

  private static void portErrors(int bits, String... names) {
    for (String name : names) {
      port(name, CounterKind.ERRORS, CounterUnit.EVENTS, Traffic.NONE, bits);
    }
  }

  private static void hardware(String name, CounterKind kind, CounterUnit unit, Traffic traffic) {
    HARDWARE.put(name, counter(name, kind, unit, 1, traffic, false, 0));
  }

  private static void hardwareErrors(String... names) {
    for (String name : names) {
      hardware(name, CounterKind.ERRORS, CounterUnit.EVENTS, Traffic.NONE);
    }
  }

  private static void hardwareEvents(String... names) {
    for (String name : names) {
      hardware(name, CounterKind.OTHER, CounterUnit.EVENTS, Traffic.NONE);
    }
  }

  private static void net(
      String name, CounterKind kind, CounterUnit unit, Traffic traffic, boolean part) {
    NET.put(name, counter(name, kind, unit, 1, traffic, part, 0));
  }

  /** All of them, for the test of the documents: where they are, and their names. */
  static List<String> all() {
    List<String> all = new ArrayList<>();
    PORT.keySet().forEach(name -> all.add("port " + name));
    HARDWARE.keySet().forEach(name -> all.add("hw " + name));
    NET.keySet().forEach(name -> all.add("net " + name));
    return all;
  }

  static Counter find(CounterSource source, String name) {
    Counter known =
        switch (source) {
          case COUNTERS, COUNTERS_EXT, PMA, PMA_EXTENDED ->
              PORT.get(plainName(name).toLowerCase(Locale.ROOT));
          case HW_COUNTERS, DEVICE -> HARDWARE.get(name);
          case NET -> NET.get(name);
        };
    if (known == null) {
      return new Counter(
          name, source, CounterKind.OTHER, CounterUnit.UNKNOWN, 1, Traffic.NONE, false, 0);
    }
    return new Counter(
        name,
        source,
        known.kind(),
        known.unit(),
        known.factor(),
        known.traffic(),
        known.part(),
        bits(source, known));
  }

  /** Old kernels call the wide counters {@code port_xmit_data_64} and so on. */
  private static String plainName(String name) {
    return name.endsWith("_64") ? name.substring(0, name.length() - 3) : name;
  }

  /** The widths of IBTA's PortCounters; of data and packets sysfs does not tell which it has. */
  private static int bits(CounterSource source, Counter known) {
    boolean traffic = known.kind() == CounterKind.DATA || known.kind() == CounterKind.PACKETS;
    return switch (source) {
      case COUNTERS -> traffic ? 0 : known.bits();
      case COUNTERS_EXT, PMA_EXTENDED -> traffic ? Long.SIZE : known.bits();
      case PMA -> known.bits();
      case HW_COUNTERS, DEVICE, NET -> 0;
    };
  }
}
