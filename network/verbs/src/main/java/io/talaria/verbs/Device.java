// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.VerbsStructs;

/** An RDMA device, as long as the list it is from is open. Immutable; usable by any thread. */
public final class Device {
  private final DeviceList list;
  private final long pointer;
  private final String name;
  private final long guid;
  private final Kind kind;

  Device(DeviceList list, long pointer) {
    this.list = list;
    this.pointer = pointer;
    name = Ibv.getDeviceName(pointer);
    guid = Bits.networkLong(Ibv.getDeviceGuid(pointer));
    kind = Kind.of(Raw.half(pointer + VerbsStructs.Device.NODE_TYPE));
  }

  /** What a device is. */
  public enum Kind {
    /** An InfiniBand or RoCE adapter. */
    CHANNEL_ADAPTER,
    /** A switch. */
    SWITCH,
    /** A router. */
    ROUTER,
    /** An iWARP adapter. */
    IWARP,
    /** A usNIC adapter. */
    USNIC,
    /** A usNIC adapter with UDP. */
    USNIC_UDP,
    /** Something else. */
    OTHER;

    static Kind of(int value) {
      return Bits.constant(values(), value - 1, OTHER);
    }
  }

  /**
   * Its name ({@code ibv_get_device_name}).
   *
   * @return a name, such as {@code mlx5_0}
   */
  public String name() {
    return name;
  }

  /**
   * Its identifier ({@code ibv_get_device_guid}).
   *
   * @return 64 bits
   */
  public long guid() {
    return guid;
  }

  /**
   * What it is ({@code node_type}).
   *
   * @return a kind
   */
  public Kind kind() {
    return kind;
  }

  /**
   * The kernel's number for it ({@code ibv_get_device_index}).
   *
   * @return a number, or -1 if the kernel has none
   */
  public int index() {
    int index = Ibv.getDeviceIndex(list.alive(pointer));
    return Math.max(index, -1);
  }

  /**
   * Opens the device ({@code ibv_open_device}).
   *
   * @return a context, to be closed
   * @throws VerbsException if it may not be opened; the message says what to do
   */
  public Context open() {
    return Context.open(name, list.alive(pointer));
  }

  @Override
  public String toString() {
    return name;
  }
}
