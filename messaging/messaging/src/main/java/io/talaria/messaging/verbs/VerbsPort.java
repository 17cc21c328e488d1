// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.ffi.MissingLibraryException;
import io.talaria.verbs.Context;
import io.talaria.verbs.Device;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.GidEntry;
import io.talaria.verbs.Path;
import io.talaria.verbs.PortAttributes;
import io.talaria.verbs.Verbs;
import io.talaria.verbs.VerbsException;
import java.io.IOException;
import java.util.StringJoiner;

/**
 * The port by which a node reaches others.
 *
 * @param context of its device, to be closed
 * @param number from 1
 * @param gidIndex of the port's own identifier
 */
record VerbsPort(Context context, int number, int gidIndex) {
  /**
   * Opens a port that is active.
   *
   * @param wanted a device, or a device and a port, such as {@code mlx5_0:1}; empty for any
   * @throws IOException if there is none; the message says what to do
   */
  static VerbsPort open(String wanted) throws IOException {
    StringJoiner seen = new StringJoiner(", ");
    try (DeviceList devices = DeviceList.open()) {
      for (Device device : devices) {
        if (wanted.isEmpty() || wanted.replaceFirst(":.*", "").equals(device.name())) {
          VerbsPort found = open(device, wanted, seen);
          if (found != null) {
            return found;
          }
        }
      }
      if (devices.devices().isEmpty()) {
        throw new IOException(Verbs.unavailableReason().orElse("there is no RDMA device"));
      }
      throw new IOException(
          seen.length() == 0
              ? "there is no RDMA port " + wanted + "; the devices are " + devices.devices()
              : "no RDMA port is active: " + seen);
    } catch (MissingLibraryException | VerbsException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static VerbsPort open(Device device, String wanted, StringJoiner seen) {
    Context context = null;
    try {
      context = device.open();
      for (int i = 1; i <= context.attributes().ports(); i++) {
        String name = device.name() + ":" + i;
        if (wanted.contains(":") && !wanted.equals(name)) {
          continue;
        }
        PortAttributes.State state = context.port(i).state();
        if (state == PortAttributes.State.ACTIVE) {
          return new VerbsPort(context, i, context.preferredGid(i).map(GidEntry::index).orElse(0));
        }
        seen.add(name + " is " + state);
      }
    } catch (VerbsException e) {
      seen.add(device.name() + ": " + e.getMessage());
    }
    if (context != null) {
      context.close();
    }
    return null;
  }

  /**
   * Requires that it is active.
   *
   * @throws IOException if it is not, with its state
   */
  void requireActive() throws IOException {
    try {
      PortAttributes.State state = context.port(number).state();
      if (state != PortAttributes.State.ACTIVE) {
        throw new IOException("port " + this + " is " + state);
      }
    } catch (VerbsException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** The longest packet, in bytes. */
  int mtuBytes() {
    return context.port(number).activeMtuBytes();
  }

  /** How a queue pair goes by this port. */
  Path path() {
    return Path.by(number, gidIndex);
  }

  /** Such as {@code mlx5_0:1}. */
  @Override
  public String toString() {
    return context.name() + ":" + number;
  }
}
