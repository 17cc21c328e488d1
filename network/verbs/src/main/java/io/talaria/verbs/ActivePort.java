// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.MissingLibraryException;
import java.io.IOException;
import java.util.StringJoiner;

/**
 * A port that was active when it was opened, with its device. Any thread may use it.
 *
 * @param context of its device; the caller of {@link #open} closes it
 * @param number from 1
 * @param gidIndex of the port's own identifier; 0 if it has none
 */
public record ActivePort(Context context, int number, int gidIndex) {
  /**
   * Opens the first port that is active.
   *
   * @param name of a device, or of a device and a port, such as {@code mlx5_0:1}; empty for any
   * @return the port; the caller closes its context
   * @throws IOException if there is none; the message says which there are, and their states
   * @throws IllegalArgumentException if there is no number from 1 behind the colon
   */
  public static ActivePort open(String name) throws IOException {
    String deviceName = name.replaceFirst(":.*", "");
    int only = name.contains(":") ? number(name) : 0;
    StringJoiner seen = new StringJoiner("; ");
    try (DeviceList devices = DeviceList.open()) {
      for (Device device : devices) {
        if (name.isEmpty() || deviceName.equals(device.name())) {
          ActivePort found = open(device, only, seen);
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
              ? "no RDMA device is named " + deviceName + "; there are " + devices.devices()
              : "no port is active: " + seen);
    } catch (MissingLibraryException | VerbsException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static int number(String name) {
    int number;
    try {
      number = Integer.parseInt(name.substring(name.indexOf(':') + 1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " has no port number behind the colon", e);
    }
    if (number < 1) {
      throw new IllegalArgumentException(name + " has a port number below 1");
    }
    return number;
  }

  private static ActivePort open(Device device, int only, StringJoiner seen) {
    Context context = null;
    try {
      context = device.open();
      int ports = context.attributes().ports();
      if (only > ports) {
        seen.add(device.name() + " has " + ports + " ports");
      }
      for (int i = 1; i <= ports; i++) {
        if (only == 0 || only == i) {
          PortAttributes.State state = context.port(i).state();
          if (state == PortAttributes.State.ACTIVE) {
            int gid = context.preferredGid(i).map(GidEntry::index).orElse(0);
            return new ActivePort(context, i, gid);
          }
          seen.add(device.name() + ":" + i + " is " + state);
        }
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
   * The longest packet that the port takes now.
   *
   * @return bytes
   * @throws VerbsException if the port cannot be asked
   */
  public int mtuBytes() throws VerbsException {
    return context.port(number).activeMtuBytes();
  }

  /**
   * How a queue pair goes by this port.
   *
   * @return the path, for connecting
   */
  public Path path() {
    return Path.by(number, gidIndex);
  }

  /** Returns its name, such as {@code mlx5_0:1}. */
  @Override
  public String toString() {
    return context.name() + ":" + number;
  }
}
