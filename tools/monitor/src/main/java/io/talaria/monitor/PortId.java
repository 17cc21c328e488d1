// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.util.Comparator;
import java.util.Objects;

/**
 * Names a port: of this host by device and number, in a fabric by node and number.
 *
 * @param device the device, the network interface, or the description of a node
 * @param number the number of the port, from 1; 0 for a network interface, and for the port of a
 *     switch by which it is managed
 * @param nodeGuid of a port in a fabric the GUID of its node in 16 hexadecimal digits, else empty
 */
public record PortId(String device, int number, String nodeGuid) implements Comparable<PortId> {
  private static final Comparator<PortId> ORDER =
      Comparator.comparing(PortId::device, PortId::compareNames)
          .thenComparing(PortId::nodeGuid)
          .thenComparingInt(PortId::number);

  /** Refuses null. */
  public PortId {
    Objects.requireNonNull(device, "device");
    Objects.requireNonNull(nodeGuid, "nodeGuid");
  }

  /**
   * Names a port of this host.
   *
   * @param device the device or network interface
   * @param number the number of the port, 0 for a network interface
   * @return its name
   */
  public static PortId local(String device, int number) {
    return new PortId(device, number, "");
  }

  /** Numbers in names by their value: {@code mlx5_2} is before {@code mlx5_10}. */
  @Override
  public int compareTo(PortId other) {
    return ORDER.compare(this, other);
  }

  private static int compareNames(String a, String b) {
    int i = 0;
    int j = 0;
    while (i < a.length() && j < b.length()) {
      int endA = digits(a, i);
      int endB = digits(b, j);
      if (endA > i && endB > j) {
        String x = a.substring(i, endA).replaceFirst("^0+(?=.)", "");
        String y = b.substring(j, endB).replaceFirst("^0+(?=.)", "");
        int order =
            x.length() != y.length() ? Integer.compare(x.length(), y.length()) : x.compareTo(y);
        if (order != 0) {
          return order;
        }
        i = endA;
        j = endB;
      } else if (a.charAt(i) != b.charAt(j)) {
        return Character.compare(a.charAt(i), b.charAt(j));
      } else {
        i++;
        j++;
      }
    }
    int order = Integer.compare(a.length() - i, b.length() - j);
    return order != 0 ? order : a.compareTo(b);
  }

  private static int digits(String text, int from) {
    int end = from;
    while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
      end++;
    }
    return end;
  }

  /** Returns {@code mlx5_0/1}; for a network interface its name alone. */
  @Override
  public String toString() {
    return number == 0 && nodeGuid.isEmpty() ? device : device + "/" + number;
  }
}
