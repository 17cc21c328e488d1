// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric.binding;

import io.talaria.ffi.CStruct;
import java.util.List;

/**
 * The structures of {@code mad.h} and {@code ibnetdisc.h}, as far as their fields are used.
 * Compared with the headers of rdma-core 44 by a test.
 */
public final class FabricStructs {
  /** Bytes of an attribute in a subnet management message. */
  public static final int SMP_BYTES = 64;

  /** Bytes of a management message; what a response is received in. */
  public static final int MAD_BYTES = 256;

  /** A path by numbers of ports. */
  static final CStruct DR_PATH =
      CStruct.named("ib_dr_path_t")
          .int32("cnt")
          .bytes("p", 64)
          .int16("drslid")
          .int16("drdlid")
          .build();

  /** Whom a message goes to. */
  static final CStruct PORT_ID =
      CStruct.named("ib_portid_t")
          .int32("lid")
          .struct("drpath", DR_PATH)
          .int32("grh_present")
          .bytes("gid", 16)
          .int32("qp")
          .int32("qkey")
          .int8("sl")
          .int32("pkey_idx")
          .build();

  /** A node. */
  static final CStruct NODE =
      CStruct.named("ibnd_node_t")
          .pointer("next")
          .struct("path_portid", PORT_ID)
          .int16("smalid")
          .int8("smalmc")
          .int32("smaenhsp0")
          .bytes("switchinfo", SMP_BYTES)
          .int64("guid")
          .int32("type")
          .int32("numports")
          .bytes("info", SMP_BYTES)
          .bytes("nodedesc", SMP_BYTES + 1)
          .pointer("ports")
          .build();

  /** A port of a node. */
  static final CStruct PORT =
      CStruct.named("ibnd_port_t")
          .int64("guid")
          .int32("portnum")
          .int32("ext_portnum")
          .pointer("node")
          .pointer("remoteport")
          .int16("base_lid")
          .int8("lmc")
          .bytes("info", SMP_BYTES)
          .bytes("ext_info", SMP_BYTES)
          .build();

  /** How to discover. */
  static final CStruct CONFIG =
      CStruct.named("ibnd_config_t")
          .int32("max_smps")
          .int32("show_progress")
          .int32("max_hops")
          .int32("debug")
          .int32("timeout_ms")
          .int32("retries")
          .int32("flags")
          .int64("mkey")
          .bytes("pad", 44)
          .build();

  /** What was discovered. */
  static final CStruct FABRIC =
      CStruct.named("ibnd_fabric_t")
          .pointer("from_node")
          .int32("from_portnum")
          .pointer("nodes")
          .build();

  private FabricStructs() {}

  /** Those whose size is ours, too. */
  static List<CStruct> fixed() {
    return List.of(DR_PATH, PORT_ID, CONFIG);
  }

  /** Those that go on after our last field. */
  static List<CStruct> growing() {
    return List.of(NODE, PORT, FABRIC);
  }
}
