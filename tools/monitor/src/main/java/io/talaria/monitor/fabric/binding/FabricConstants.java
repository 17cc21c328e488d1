// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric.binding;

/** Constants of {@code mad.h} under their C names, checked by a test. */
public final class FabricConstants {
  /** Management class: subnet, by LID. */
  public static final int IB_SMI_CLASS = 0x1;

  /** Management class: subnet, by directed route. */
  public static final int IB_SMI_DIRECT_CLASS = 0x81;

  /** Management class: performance. */
  public static final int IB_PERFORMANCE_CLASS = 0x4;

  /** Attribute: what a class can do. */
  public static final int CLASS_PORT_INFO = 0x1;

  /** Attribute: counters of 32 bits and less. */
  public static final int IB_GSI_PORT_COUNTERS = 0x12;

  /** Attribute: counters of 64 bits. */
  public static final int IB_GSI_PORT_COUNTERS_EXT = 0x1d;

  /** Node type: channel adapter. */
  public static final int IB_NODE_CA = 1;

  /** Node type: switch. */
  public static final int IB_NODE_SWITCH = 2;

  /** Node type: router. */
  public static final int IB_NODE_ROUTER = 3;

  /** PortInfo: what the port can do. */
  public static final int IB_PORT_CAPMASK_F = 31;

  /** PortInfo: width, a bit. */
  public static final int IB_PORT_LINK_WIDTH_ACTIVE_F = 37;

  /** PortInfo: logical state. */
  public static final int IB_PORT_STATE_F = 39;

  /** PortInfo: physical state. */
  public static final int IB_PORT_PHYS_STATE_F = 40;

  /** PortInfo: speed, a bit. */
  public static final int IB_PORT_LINK_SPEED_ACTIVE_F = 44;

  /** PortInfo: speed from FDR on, a bit. */
  public static final int IB_PORT_LINK_SPEED_EXT_ACTIVE_F = 324;

  /** ClassPortInfo: capability mask. */
  public static final int IB_CPI_CAPMASK_F = 208;

  /** PortCounters: the first of them, SymbolErrorCounter. */
  public static final int IB_PC_ERR_SYM_F = 123;

  /** PortCounters: PortXmitData. */
  public static final int IB_PC_XMT_BYTES_F = 136;

  /** PortCounters: PortXmitWait, the last. */
  public static final int IB_PC_XMT_WAIT_F = 140;

  /** PortCounters: a mask between them. */
  public static final int IB_PC_COUNTER_SELECT2_F = 132;

  /** PortCountersExtended: the first of them, PortXmitData. */
  public static final int IB_PC_EXT_XMT_BYTES_F = 196;

  /** PortCountersExtended: the last of them, PortMulticastRcvPkts. */
  public static final int IB_PC_EXT_RCV_MPKTS_F = 203;

  private FabricConstants() {}
}
