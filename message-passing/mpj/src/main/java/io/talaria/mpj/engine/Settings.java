// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import io.talaria.mpj.device.nio.Network;
import java.io.ObjectInputFilter;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/** The properties {@code talaria.mpj.*}, read once and checked. */
public final class Settings {
  /** Exit status for a bad property: EX_CONFIG of sysexits.h. */
  public static final int STATUS_CONFIG = 78;

  private static final String PREFIX = "talaria.mpj.";

  /** For {@link #ringBytes}: by the number of ranks. */
  private static final int BY_RANKS = 0;

  private static final int MIN_NORMAL_RING = 64 << 10;

  private static final String COLLECTIVE = "coll.";
  private static final List<String> BETWEEN = List.of("auto", "nio", "ucx", "ibv");
  private static final List<String> DEVICES = List.of("auto", "shm", "nio", "ucx", "ibv");

  private final int eagerBytes;
  private final int ringBytes;
  private final long creditBytes;
  private final long spinNs;
  private final long yieldNs;
  private final long progressNs;
  private final int bufferBytes;
  private final String network;
  private final String between;
  private final String directory;
  private final String hca;
  private final long registeredBytes;
  private final String device;
  private final boolean checks;
  private final Map<String, String> algorithms = new TreeMap<>();

  private Settings(Properties from) {
    for (String name : from.stringPropertyNames()) {
      if (name.startsWith(PREFIX)) {
        check(name.substring(PREFIX.length()), from.getProperty(name));
      }
    }
    ringBytes = (int) number(from, "ring", BY_RANKS, 4096, 1 << 30);
    if (ringBytes != BY_RANKS && Integer.bitCount(ringBytes) != 1) {
      throw new IllegalArgumentException(
          PREFIX + "ring=" + ringBytes + ": a power of two of bytes is allowed");
    }
    eagerBytes = (int) number(from, "eager", 16384, 0, 1 << 20);
    creditBytes = number(from, "credit", 1 << 20, 0, 1L << 40);
    spinNs = number(from, "spin", -1, -1, 1_000_000) * 1000;
    yieldNs = number(from, "yield", -1, -1, 1_000_000) * 1000;
    progressNs = number(from, "progress", 0, 0, 1_000_000) * 1000;
    bufferBytes = (int) number(from, "buffer", 262144, 4096, 1 << 30);
    if (Integer.bitCount(bufferBytes) != 1) {
      throw new IllegalArgumentException(
          PREFIX + "buffer=" + bufferBytes + ": a power of two of bytes is allowed");
    }
    directory = from.getProperty(PREFIX + "dir");
    hca = from.getProperty(PREFIX + "hca");
    registeredBytes = number(from, "registrations", 256L << 20, 0, 1L << 40);
    String check = from.getProperty(PREFIX + "check", "false");
    if (!check.equals("true") && !check.equals("false")) {
      throw new IllegalArgumentException(PREFIX + "check=" + check + ": true or false is allowed");
    }
    checks = check.equals("true");
    between = from.getProperty(PREFIX + "between", "auto");
    if (!BETWEEN.contains(between)) {
      throw new IllegalArgumentException(
          PREFIX + "between=" + between + ": auto, nio, ucx or ibv is allowed");
    }
    device = from.getProperty(PREFIX + "device", "auto");
    if (!DEVICES.contains(device)) {
      throw new IllegalArgumentException(
          PREFIX + "device=" + device + ": auto, shm, nio, ucx or ibv is allowed");
    }
    network = from.getProperty(PREFIX + "network");
    if (network != null) {
      try {
        Network.check(network);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            PREFIX + "network=" + network + ": an address/prefix such as 10.1.0.0/16 is allowed",
            e);
      }
    }
    checkFilter(from);
  }

  /** Or the first receive of objects would throw. */
  private static void checkFilter(Properties from) {
    String filter = from.getProperty(PREFIX + "serial.filter");
    if (filter != null) {
      try {
        ObjectInputFilter ignored = ObjectInputFilter.Config.createFilter(filter);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            PREFIX + "serial.filter=" + filter + ": a pattern of ObjectInputFilter is allowed", e);
      }
    }
  }

  private void check(String name, String value) {
    switch (name) {
      case "ring",
          "eager",
          "credit",
          "spin",
          "yield",
          "progress",
          "buffer",
          "network",
          "between",
          "device",
          "hca",
          "registrations",
          "dir",
          "check",
          "diagnose",
          "serial.filter" -> {}
      default -> {
        if (!name.startsWith(COLLECTIVE)) {
          throw new IllegalArgumentException(
              PREFIX
                  + name
                  + " is unknown; the properties are "
                  + PREFIX
                  + "eager, ring, credit, spin, yield, progress, buffer, network, between, device, hca,"
                  + " dir, registrations, check, diagnose, serial.filter and coll.NAME");
        }
        algorithms.put(name.substring(COLLECTIVE.length()), value);
      }
    }
  }

  private static long number(Properties from, String name, long normal, long least, long most) {
    String value = from.getProperty(PREFIX + name);
    if (value == null) {
      return normal;
    }
    try {
      long number = Long.parseLong(value.trim());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        PREFIX
            + name
            + "="
            + value
            + ": a whole number from "
            + least
            + " to "
            + most
            + " is allowed");
  }

  /**
   * Reads properties.
   *
   * @param from such as the system's
   * @throws IllegalArgumentException naming a property that is unknown or bad, and what is allowed
   */
  public static Settings of(Properties from) {
    return new Settings(from);
  }

  /**
   * Reads the properties among options of a JVM.
   *
   * @param options such as {@code -Dtalaria.mpj.ring=8192}; others are passed over
   * @throws IllegalArgumentException naming a property that is unknown or bad, and what is allowed
   */
  public static Settings ofOptions(List<String> options) {
    Properties given = new Properties();
    for (String option : options) {
      if (option.startsWith("-D" + PREFIX)) {
        int equals = option.indexOf('=');
        given.setProperty(
            option.substring(2, equals < 0 ? option.length() : equals),
            equals < 0 ? "" : option.substring(equals + 1));
      }
    }
    return of(given);
  }

  /**
   * Longest message sent without being asked for, bytes; a device takes less where its frames are
   * shorter.
   */
  public int eagerBytes() {
    return eagerBytes;
  }

  /**
   * The least size of a ring, bytes: what was set, or what rings have where there is little room.
   */
  public int ringBytes() {
    return ringBytes == BY_RANKS ? MIN_NORMAL_RING : ringBytes;
  }

  /**
   * Size of a ring where there is room, bytes. In large ones long messages take a half to a third
   * of the time, probably since their lines are in the cache that the cores share and not in the
   * other core's own; but there is one for each ordered pair of ranks of a host.
   *
   * @param ranksHere ranks of the job on this host
   */
  public int ringBytes(int ranksHere) {
    if (ringBytes != BY_RANKS) {
      return ringBytes;
    }
    int times = ranksHere <= 2 ? 32 : ranksHere <= 4 ? 16 : ranksHere <= 8 ? 4 : 1;
    return times * MIN_NORMAL_RING;
  }

  /** Memory of a connection each way, bytes. */
  public int bufferBytes() {
    return bufferBytes;
  }

  /** Network whose addresses other hosts are given, such as 10.1.0.0/16, or null for all. */
  public String network() {
    return network;
  }

  /** What the device {@code auto} takes between hosts: auto, nio, ucx or ibv. */
  public String between() {
    return between;
  }

  /**
   * The port that ibvdev takes, such as mlx5_0 or mlx5_0:1, or null for the first that is active.
   */
  public String hca() {
    return hca;
  }

  /** How much memory of the program ibvdev keeps registered, bytes; 0: none. */
  public long registeredBytes() {
    return registeredBytes;
  }

  /** Where a job's shared files are made on each host, or null for where the memory is shared. */
  public String directory() {
    return directory;
  }

  /** The device under a launcher that knows none: auto, shm, nio, ucx or ibv. */
  public String device() {
    return device;
  }

  /** Whether all ranks compare what they call before each collective. */
  public boolean checks() {
    return checks;
  }

  /** Early messages that a peer may have at a rank, bytes. */
  public long creditBytes() {
    return creditBytes;
  }

  /**
   * What a rank does before it sleeps.
   *
   * @param ranks on this host
   * @param cores of it
   */
  public Waiting waiting(int ranks, int cores) {
    Waiting best = Waiting.of(ranks, cores);
    return new Waiting(spinNs < 0 ? best.spinNs() : spinNs, yieldNs < 0 ? best.yieldNs() : yieldNs);
  }

  /** How often a thread makes progress while the program computes, nanoseconds; 0: none does. */
  public long progressNs() {
    return progressNs;
  }

  /** Algorithms forced, by the name of the collective. */
  public Map<String, String> algorithms() {
    return algorithms;
  }
}
