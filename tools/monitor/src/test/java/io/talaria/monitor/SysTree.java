// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes a tree that stands for {@code /sys}, as kernels of several ages and drivers make it. */
public final class SysTree {
  private final Path root;

  /** Makes an empty one. */
  public SysTree(Path root) {
    this.root = root;
  }

  /** Where it is. */
  public Path root() {
    return root;
  }

  /** Writes a file, with a line feed behind the text as the kernel does. */
  public SysTree file(String path, Object text) {
    try {
      Path file = root.resolve(path);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text + "\n");
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes a file or an empty directory. */
  public void remove(String path) {
    try {
      Files.delete(root.resolve(path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Attributes of a port of an RDMA device. */
  public SysTree rdmaPort(String device, int port, String layer, String state, String rate) {
    String at = "class/infiniband/" + device + "/ports/" + port + "/";
    file("class/infiniband/" + device + "/node_guid", "506b:4b03:00f3:e6a4");
    file("class/infiniband/" + device + "/node_type", "1: CA");
    file(at + "link_layer", layer);
    file(at + "state", state);
    file(at + "phys_state", state.equals("4: ACTIVE") ? "5: LinkUp" : "3: Disabled");
    file(at + "rate", rate);
    file(at + "lid", "0x0");
    return this;
  }

  /** A ConnectX adapter on InfiniBand: 64-bit data, the classic errors, and those of the device. */
  public SysTree connectX() {
    rdmaPort("mlx5_0", 1, "InfiniBand", "4: ACTIVE", "100 Gb/sec (4X EDR)");
    String at = "class/infiniband/mlx5_0/ports/1/";
    file(at + "lid", "0x1f");
    file(at + "gids/0", "fe80:0000:0000:0000:506b:4b03:00f3:e6a4");
    file(at + "gids/1", "0000:0000:0000:0000:0000:0000:0000:0000");
    for (String name :
        new String[] {
          "excessive_buffer_overrun_errors",
          "link_downed",
          "link_error_recovery",
          "local_link_integrity_errors",
          "port_rcv_constraint_errors",
          "port_rcv_errors",
          "port_rcv_remote_physical_errors",
          "port_rcv_switch_relay_errors",
          "port_xmit_constraint_errors",
          "port_xmit_discards",
          "port_xmit_wait",
          "symbol_error",
          "VL15_dropped",
          "multicast_rcv_packets",
          "multicast_xmit_packets",
          "unicast_rcv_packets",
          "unicast_xmit_packets"
        }) {
      file(at + "counters/" + name, 0);
    }
    file(at + "counters/port_xmit_data", 1000);
    file(at + "counters/port_rcv_data", 2000);
    file(at + "counters/port_xmit_packets", 10);
    file(at + "counters/port_rcv_packets", 20);
    file(at + "hw_counters/lifespan", 10);
    file(at + "hw_counters/out_of_buffer", 3);
    file(at + "hw_counters/rx_write_requests", 7);
    file("class/infiniband/mlx5_0/hw_counters/lifespan", 10);
    file("class/infiniband/mlx5_0/hw_counters/a_new_counter", 5);
    return this;
  }

  /** A RoCE port with its network interface. */
  public SysTree roce() {
    rdmaPort("mlx5_1", 1, "Ethernet", "4: ACTIVE", "25 Gb/sec (1X EDR)");
    String at = "class/infiniband/mlx5_1/ports/1/";
    file(at + "gids/0", "fe80:0000:0000:0000:0ac0:ebff:fe00:0001");
    file(at + "gid_attrs/types/0", "IB/RoCE v1");
    file(at + "gid_attrs/ndevs/0", "ens1f0");
    file(at + "gids/1", "fe80:0000:0000:0000:0ac0:ebff:fe00:0001");
    file(at + "gid_attrs/types/1", "RoCE v2");
    file(at + "gid_attrs/ndevs/1", "ens1f0");
    file(at + "gids/2", "0000:0000:0000:0000:0000:ffff:0a4d:0001");
    file(at + "gid_attrs/types/2", "IB/RoCE v1");
    file(at + "gid_attrs/ndevs/2", "ens1f0");
    file(at + "gids/3", "0000:0000:0000:0000:0000:ffff:0a4d:0001");
    file(at + "gid_attrs/types/3", "RoCE v2");
    file(at + "gid_attrs/ndevs/3", "ens1f0");
    file(at + "counters/port_xmit_data", 400);
    file(at + "counters/port_rcv_data", 500);
    file(at + "hw_counters/np_cnp_sent", 1);
    return netInterface("ens1f0", "up", 25000, true, 1);
  }

  /** Soft-RoCE: no {@code counters}, and {@code hw_counters} that say how long they last. */
  public SysTree softRoce() {
    rdmaPort("rxe0", 1, "Ethernet", "4: ACTIVE", "2.5 Gb/sec (1X SDR)");
    String at = "class/infiniband/rxe0/ports/1/";
    file(at + "gid_attrs/ndevs/0", "dummy0");
    file(at + "hw_counters/lifespan", 10);
    file(at + "hw_counters/sent_pkts", 100);
    file(at + "hw_counters/rcvd_pkts", 90);
    file(at + "hw_counters/retry_exceeded_err", 0);
    return this;
  }

  /** An adapter under an old kernel: wide counters in a directory of their own. */
  public SysTree oldKernel() {
    rdmaPort("mthca0", 2, "InfiniBand", "2: INIT", "10 Gb/sec (4X)");
    String at = "class/infiniband/mthca0/ports/2/";
    file(at + "counters/port_xmit_data", 4294967295L);
    file(at + "counters/port_rcv_data", 5);
    file(at + "counters_ext/port_xmit_data_64", 8589934592L);
    file(at + "counters_ext/port_rcv_data_64", 5);
    return this;
  }

  /** A network interface; of type 1 Ethernet, 772 loopback. */
  public SysTree netInterface(
      String name, String operstate, int megabits, boolean device, int type) {
    String at = "class/net/" + name + "/";
    file(at + "operstate", operstate);
    file(at + "speed", megabits);
    file(at + "type", type);
    file(at + "carrier", operstate.equals("up") ? 1 : 0);
    file(at + "address", "02:42:ac:11:00:02");
    if (device) {
      file(at + "device/vendor", "0x15b3");
    }
    file(at + "statistics/rx_bytes", 11);
    file(at + "statistics/tx_bytes", 12);
    file(at + "statistics/rx_packets", 1);
    file(at + "statistics/tx_packets", 2);
    file(at + "statistics/rx_errors", 3);
    file(at + "statistics/rx_crc_errors", 3);
    return this;
  }

  /** As if no byte had ever gone through a network interface. */
  public SysTree nothingCarried(String name) {
    file("class/net/" + name + "/statistics/rx_bytes", 0);
    file("class/net/" + name + "/statistics/tx_bytes", 0);
    return this;
  }
}
