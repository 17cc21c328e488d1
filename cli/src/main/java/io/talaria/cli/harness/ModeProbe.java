// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.Mode;
import io.talaria.nio.Role;
import java.nio.channels.spi.SelectorProvider;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Looks in a child JVM which road its connections really take. Any thread may call it. */
public final class ModeProbe {
  private static final String TALARIA_PROVIDER = "io.talaria.nio.TalariaProvider";

  private ModeProbe() {}

  /**
   * The roads of the connections of one process.
   *
   * @param provider class name of the selector provider
   * @param accelerated connections on a fabric
   * @param plain connections on TCP
   * @param roads how many connections per mode and reason, as in {@code shm (same-host)}
   * @param tcpBytes bytes that the connections have moved on TCP, in and out
   * @param fabricBytes bytes that the connections have moved on a fabric, in and out
   */
  public record Roads(
      String provider,
      int accelerated,
      int plain,
      Map<String, Integer> roads,
      long tcpBytes,
      long fabricBytes) {

    /** Returns the roads in words, {@code 3 tcp (peer-plain)}. */
    public String describe() {
      if (roads.isEmpty()) {
        return "no connection known to " + provider;
      }
      StringBuilder text = new StringBuilder();
      roads.forEach(
          (road, count) ->
              text.append(text.isEmpty() ? "" : ", ").append(count).append(' ').append(road));
      return text.toString();
    }
  }

  /** Returns the class name of this process's selector provider. */
  public static String provider() {
    return SelectorProvider.provider().getClass().getName();
  }

  /** Returns whether this process runs on Talaria's provider. */
  public static boolean switchedOn() {
    return provider().equals(TALARIA_PROVIDER);
  }

  /** Returns the roads of this process's open connections. */
  public static Roads look() {
    return switchedOn() ? Talaria.look() : new Roads(provider(), 0, 0, new LinkedHashMap<>(), 0, 0);
  }

  /** Apart, so that a plain run never loads a class of Talaria's. */
  private static final class Talaria {
    static Roads look() {
      int accelerated = 0;
      int plain = 0;
      long tcpBytes = 0;
      long fabricBytes = 0;
      Map<String, Integer> roads = new TreeMap<>();
      for (ConnectionInfo info : Connections.snapshot()) {
        if (info.role() == Role.LISTENER) {
          continue;
        }
        if (info.mode() == Mode.TCP) {
          plain++;
        } else {
          accelerated++;
        }
        tcpBytes += info.tcpInBytes() + info.tcpOutBytes();
        fabricBytes += info.fabricInBytes() + info.fabricOutBytes();
        roads.merge(info.mode().code() + " (" + info.reason().code() + ")", 1, Integer::sum);
      }
      return new Roads(provider(), accelerated, plain, roads, tcpBytes, fabricBytes);
    }
  }
}
