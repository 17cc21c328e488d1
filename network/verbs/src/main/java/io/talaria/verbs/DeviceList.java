// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * The RDMA devices of this host. Contexts that were opened from it outlive the list. Usable by any
 * thread.
 */
public final class DeviceList implements AutoCloseable, Iterable<Device> {
  private final List<Device> devices;

  /** 0 once closed. Guarded by this. */
  private long list;

  private DeviceList(long list, int count) {
    this.list = list;
    List<Device> found = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      found.add(new Device(this, Raw.word(list + 8L * i)));
    }
    devices = Collections.unmodifiableList(found);
  }

  /**
   * Lists the devices ({@code ibv_get_device_list}).
   *
   * @return a list, which may be empty, to be closed
   * @throws MissingLibraryException if libibverbs is not installed
   * @throws VerbsException if the kernel has no verbs
   */
  public static DeviceList open() {
    VerbsLibrary.required();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      long list = Ibv.getDeviceList(count.address());
      if (list < 0) {
        throw new VerbsException((int) list, "ibv_get_device_list", Verbs.NO_KERNEL_VERBS);
      }
      return new DeviceList(list, count.get(JAVA_INT, 0));
    }
  }

  /**
   * The devices.
   *
   * @return them all, in the library's order
   */
  public List<Device> devices() {
    return devices;
  }

  /**
   * The device of a name.
   *
   * @param name such as {@code mlx5_0}
   * @return the device
   * @throws NoSuchElementException if there is none; the message has the names there are
   */
  public Device named(String name) {
    return devices.stream()
        .filter(device -> device.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new NoSuchElementException(
                    "no RDMA device is named " + name + "; there are " + devices));
  }

  /**
   * The first device.
   *
   * @return the device
   * @throws NoSuchElementException if there is none; the message says what to do
   */
  public Device first() {
    if (devices.isEmpty()) {
      throw new NoSuchElementException(Verbs.noDevice());
    }
    return devices.getFirst();
  }

  @Override
  public Iterator<Device> iterator() {
    return devices.iterator();
  }

  synchronized long alive(long device) {
    if (list == 0) {
      throw new IllegalStateException("the list of devices is closed");
    }
    return device;
  }

  /** Ends the list ({@code ibv_free_device_list}). Does nothing if it is closed. */
  @Override
  public synchronized void close() {
    if (list != 0) {
      Ibv.freeDeviceList(list);
      list = 0;
    }
  }
}
