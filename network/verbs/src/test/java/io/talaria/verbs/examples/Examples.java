// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import io.talaria.verbs.Device;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.Loopback;
import io.talaria.verbs.Verbs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/** Runs the examples that are named, or all. Ends with 1 if one does not find what it must. */
public final class Examples {
  private static final int MISSING = 69;
  private static final Map<String, Example> ALL = new LinkedHashMap<>();

  static {
    ALL.put(
        "ping-pong",
        new Example(PingPongExample::run, "100 round trips, the last answer is «pong 99»"));
    ALL.put("read-write", new Example(ReadWriteExample::run, "read back «written from afar»"));
    ALL.put(
        "atomics",
        new Example(AtomicsExample::run, "the last addition found 27, the swap 30, left is 1"));
    ALL.put(
        "shared-queue",
        new Example(SharedQueueExample::run, "6 messages of 3 connections came by one queue"));
    ALL.put("sleeping", new Example(SleepingExample::run, "woken 5 times for 5 messages"));
    ALL.put("datagrams", new Example(DatagramsExample::run, "came: 4711"));
    ALL.put("connecting", new Example(ConnectingExample::run, "sent «please», received «welcome»"));
  }

  /** What an example does; gives what it has found out. */
  @FunctionalInterface
  interface Body {
    String run(Here here) throws Exception;
  }

  /**
   * An example.
   *
   * @param finds what it must find out
   */
  record Example(Body body, String finds) {}

  private Examples() {}

  static Map<String, Example> all() {
    return ALL;
  }

  /**
   * Runs them.
   *
   * @param args {@code --device NAME} or {@code --simulated}, and names; what they may be is
   *     checked by the launcher
   */
  public static void main(String[] args) throws Exception {
    String device = "";
    List<String> names = new ArrayList<>();
    Optional<String> unavailableReason = Optional.empty();
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--device" -> device = args[++i];
        case "--simulated" -> unavailableReason = Loopback.prepare();
        default -> names.add(args[i]);
      }
    }
    if (unavailableReason.isEmpty()) {
      unavailableReason = Verbs.unavailableReason();
    }
    if (unavailableReason.isEmpty() && !device.isEmpty()) {
      unavailableReason = absent(device);
    }
    if (unavailableReason.isPresent()) {
      System.err.println("talaria: " + unavailableReason.get());
      System.exit(MISSING);
    }
    boolean right = true;
    for (String name : names.isEmpty() ? List.copyOf(ALL.keySet()) : names) {
      Example example = ALL.get(name);
      String found = example.body().run(new Here(device));
      System.out.println(name + ": " + found);
      if (!found.equals(example.finds()) && !found.startsWith("this device has no")) {
        System.err.println("talaria: " + name + " should have found: " + example.finds());
        right = false;
      }
    }
    System.exit(right ? 0 : 1);
  }

  /** Why there is no device of this name. */
  private static Optional<String> absent(String name) {
    try (DeviceList devices = DeviceList.open()) {
      Device ignored = devices.named(name);
      return Optional.empty();
    } catch (NoSuchElementException e) {
      return Optional.of(e.getMessage());
    }
  }
}
