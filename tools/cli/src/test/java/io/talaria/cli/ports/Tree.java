// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A tree that stands for {@code /sys}: an InfiniBand port with errors, RoCE, and interfaces. */
public final class Tree {
  private final Path root;

  private Tree(Path root) {
    this.root = root;
  }

  /** Makes it. */
  public static Tree in(Path root) {
    Tree tree = new Tree(root);
    tree.rdma("mlx5_0", "InfiniBand", "100 Gb/sec (4X EDR)");
    tree.write("class/infiniband/mlx5_0/ports/1/lid", "0x1f");
    tree.write("class/infiniband/mlx5_0/ports/1/counters/symbol_error", "65535");
    tree.write("class/infiniband/mlx5_0/ports/1/counters/link_downed", "2");
    tree.write("class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "77");
    tree.rdma("mlx5_1", "Ethernet", "25 Gb/sec (1X EDR)");
    tree.write("class/infiniband/mlx5_1/ports/1/counters/link_downed", "0");
    tree.write("class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0", "ens1f0");
    tree.net("ens1f0", "up", 1);
    tree.net("lo", "unknown", 772);
    return tree;
  }

  /** Makes one of so many InfiniBand ports, {@code mlx5_0} first. */
  public static void ports(Path root, int count) {
    Tree tree = new Tree(root);
    for (int i = 0; i < count; i++) {
      tree.rdma("mlx5_" + i, "InfiniBand", "100 Gb/sec (4X EDR)");
      tree.write("class/infiniband/mlx5_" + i + "/ports/1/lid", "0x1f");
      tree.write("class/infiniband/mlx5_" + i + "/ports/1/counters/symbol_error", "3");
      tree.write("class/infiniband/mlx5_" + i + "/ports/1/counters/port_xmit_wait", "77");
    }
  }

  private void rdma(String device, String layer, String rate) {
    String at = "class/infiniband/" + device + "/ports/1/";
    write("class/infiniband/" + device + "/node_guid", "506b:4b03:00f3:e6a4");
    write(at + "link_layer", layer);
    write(at + "state", "4: ACTIVE");
    write(at + "phys_state", "5: LinkUp");
    write(at + "rate", rate);
    write(at + "counters/port_xmit_data", "1024");
    write(at + "counters/port_rcv_data", "2048");
    write(at + "counters/port_xmit_packets", "10");
    write(at + "counters/port_rcv_packets", "20");
  }

  private void net(String name, String state, int type) {
    String at = "class/net/" + name + "/";
    write(at + "operstate", state);
    write(at + "type", Integer.toString(type));
    write(at + "speed", "25000");
    write(at + "statistics/rx_bytes", "300");
    write(at + "statistics/tx_bytes", "400");
  }

  /** Writes a file. */
  public void write(String path, String text) {
    try {
      Path file = root.resolve(path);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
