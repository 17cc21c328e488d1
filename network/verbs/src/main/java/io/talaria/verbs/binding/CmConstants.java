// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.binding;

/**
 * Constants of {@code rdma_cma.h}, under their names in C; a test compares each with the headers.
 */
public final class CmConstants {
  // rdma_cm_event_type
  public static final int RDMA_CM_EVENT_ADDR_RESOLVED = 0;
  public static final int RDMA_CM_EVENT_ADDR_ERROR = 1;
  public static final int RDMA_CM_EVENT_ROUTE_RESOLVED = 2;
  public static final int RDMA_CM_EVENT_ROUTE_ERROR = 3;
  public static final int RDMA_CM_EVENT_CONNECT_REQUEST = 4;
  public static final int RDMA_CM_EVENT_CONNECT_RESPONSE = 5;
  public static final int RDMA_CM_EVENT_CONNECT_ERROR = 6;
  public static final int RDMA_CM_EVENT_UNREACHABLE = 7;
  public static final int RDMA_CM_EVENT_REJECTED = 8;
  public static final int RDMA_CM_EVENT_ESTABLISHED = 9;
  public static final int RDMA_CM_EVENT_DISCONNECTED = 10;
  public static final int RDMA_CM_EVENT_DEVICE_REMOVAL = 11;
  public static final int RDMA_CM_EVENT_MULTICAST_JOIN = 12;
  public static final int RDMA_CM_EVENT_MULTICAST_ERROR = 13;
  public static final int RDMA_CM_EVENT_ADDR_CHANGE = 14;
  public static final int RDMA_CM_EVENT_TIMEWAIT_EXIT = 15;

  // rdma_port_space
  public static final int RDMA_PS_IPOIB = 2;
  public static final int RDMA_PS_TCP = 262;
  public static final int RDMA_PS_UDP = 273;
  public static final int RDMA_PS_IB = 319;

  // options
  public static final int RDMA_OPTION_ID = 0;
  public static final int RDMA_OPTION_ID_TOS = 0;
  public static final int RDMA_OPTION_ID_REUSEADDR = 1;
  public static final int RDMA_OPTION_ID_AFONLY = 2;
  public static final int RDMA_OPTION_ID_ACK_TIMEOUT = 3;
  public static final int RDMA_MAX_RESP_RES = 255;
  public static final int RDMA_MAX_INIT_DEPTH = 255;
  public static final int RDMA_UDP_QKEY = 0x1234567;

  private CmConstants() {}
}
