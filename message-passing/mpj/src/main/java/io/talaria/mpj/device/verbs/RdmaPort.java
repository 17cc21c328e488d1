// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import io.talaria.ffi.MissingLibraryException;
import io.talaria.mpj.device.transport.MissingTransportException;
import io.talaria.verbs.Context;
import io.talaria.verbs.Device;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.PortAttributes;
import io.talaria.verbs.Verbs;
import io.talaria.verbs.VerbsException;

/**
 * The port of this host that frames go by.
 *
 * @param context of its device, to be closed
 * @param number from 1
 * @param gidIndex of its own identifier
 * @param mtuBytes the longest packet
 */
record RdmaPort(Context context, int number, int gidIndex, int mtuBytes) {
  private static final String WHAT = "RDMA verbs";

  /** What an exception says that a port cannot be used. */
  static MissingTransportException missing(String message, Throwable cause) {
    return new MissingTransportException(WHAT, message, cause);
  }

  /**
   * Opens one that is active.
   *
   * @param name of a device, or of a device and a port, such as {@code mlx5_0:1}; null for any
   * @throws MissingTransportException if there is none
   */
  static RdmaPort open(String name) throws MissingTransportException {
    String deviceName = name == null ? null : name.replaceFirst(":.*", "");
    int only = name == null || !name.contains(":") ? 0 : number(name);
    StringBuilder seen = new StringBuilder();
    try (DeviceList devices = DeviceList.open()) {
      for (Device device : devices) {
        if (deviceName == null || deviceName.equals(device.name())) {
          RdmaPort found = open(device, only, seen);
          if (found != null) {
            return found;
          }
        }
      }
      if (devices.devices().isEmpty()) {
        throw missing(Verbs.unavailableReason().orElse("there is no RDMA device"), null);
      }
      throw missing(
          seen.isEmpty()
              ? "no RDMA device is named " + deviceName + "; there are " + devices.devices()
              : "no port is active:" + seen,
          null);
    } catch (MissingLibraryException | VerbsException e) {
      throw missing(e.getMessage(), e);
    }
  }

  private static int number(String name) throws MissingTransportException {
    try {
      return Integer.parseInt(name.substring(name.indexOf(':') + 1));
    } catch (NumberFormatException e) {
      throw missing("talaria.mpj.hca=" + name + " has no port number behind the colon", e);
    }
  }

  private static RdmaPort open(Device device, int only, StringBuilder seen) {
    Context context;
    try {
      context = device.open();
    } catch (VerbsException e) {
      seen.append(' ').append(device.name()).append(": ").append(e.getMessage()).append(';');
      return null;
    }
    try {
      int ports = context.attributes().ports();
      if (only > ports) {
        seen.append(' ').append(device.name()).append(" has ").append(ports).append(" ports;");
      }
      for (int i = 1; i <= ports; i++) {
        if (only != 0 && only != i) {
          continue;
        }
        PortAttributes port = context.port(i);
        if (port.state() == PortAttributes.State.ACTIVE) {
          int gid = context.preferredGid(i).map(entry -> entry.index()).orElse(0);
          return new RdmaPort(context, i, gid, port.activeMtuBytes());
        }
        seen.append(' ').append(device.name()).append(':').append(i);
        seen.append(" is ").append(port.state()).append(';');
      }
    } catch (VerbsException e) {
      seen.append(' ').append(device.name()).append(": ").append(e.getMessage()).append(';');
    }
    context.close();
    return null;
  }

  @Override
  public String toString() {
    return context.name() + ":" + number;
  }
}
