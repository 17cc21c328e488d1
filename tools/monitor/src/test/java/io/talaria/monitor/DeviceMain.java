// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Reads the counters of an RDMA device before and after a command that sends by it, and compares
 * them with the kernel's files: {@code DEVICE LEAST COMMAND...}, where LEAST is how many packets
 * must have been sent at least. For devices whose counters are at rest otherwise.
 */
public final class DeviceMain {
  private static final long LIMIT_NS = 30_000_000_000L;

  private DeviceMain() {}

  /** Ends with 0 if all is well. */
  public static void main(String[] args) throws Exception {
    String device = args[0];
    try (LocalPorts ports = LocalPorts.open()) {
      Reading before = settled(ports, device);
      if (before.port().state() != PortState.ACTIVE || before.port().layer() != LinkLayer.ROCE) {
        throw new AssertionError("no active RoCE port: " + before.port());
      }
      Process command =
          new ProcessBuilder(List.of(args).subList(2, args.length)).inheritIO().start();
      if (command.waitFor() != 0) {
        throw new AssertionError("the command has ended with " + command.exitValue());
      }
      Reading after = settled(ports, device);
      Rates rates = Rates.between(before, after, null);
      int sent = after.indexOf("sent_pkts");
      int received = after.indexOf("rcvd_pkts");
      long least = Long.parseLong(args[1]);
      if (rates.change(sent) != Change.COUNTED
          || rates.amount(sent) < least
          || rates.amount(received) < least
          || rates.perSecond(sent) <= 0) {
        throw new AssertionError(
            "packets sent " + rates.amount(sent) + ", received " + rates.amount(received));
      }
      if (after.indexOf(CounterKind.DATA, Traffic.SENT) >= 0) {
        throw new AssertionError("soft-RoCE counts no bytes, but some are shown");
      }
      System.out.println(
          after.port().id()
              + ": "
              + after.counters().size()
              + " counters as in the kernel's files; packets sent "
              + (long) rates.amount(sent)
              + ", received "
              + (long) rates.amount(received));
    }
  }

  /** A reading that is the same as the files: the kernel refreshes them now and then. */
  private static Reading settled(LocalPorts ports, String device)
      throws IOException, InterruptedException {
    long endNs = System.nanoTime() + LIMIT_NS;
    while (true) {
      Reading reading =
          ports.read().stream()
              .filter(each -> each.port().id().device().equals(device))
              .findFirst()
              .orElseThrow(() -> new AssertionError("no port of " + device));
      Map<String, Long> files = files(device);
      Map<String, Long> read = new TreeMap<>();
      for (int i = 0; i < reading.counters().size(); i++) {
        if (reading.known(i)) {
          read.put(reading.counters().get(i).name(), reading.value(i));
        }
      }
      if (!files.isEmpty() && read.equals(files)) {
        return reading;
      }
      if (System.nanoTime() > endNs) {
        throw new AssertionError("read " + read + ", but the files have " + files);
      }
      Thread.sleep(50);
    }
  }

  private static Map<String, Long> files(String device) throws IOException {
    Map<String, Long> values = new TreeMap<>();
    Path directory = Path.of("/sys/class/infiniband", device, "ports/1/hw_counters");
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (!file.endsWith("lifespan")) {
          values.put(file.getFileName().toString(), Long.valueOf(Files.readString(file).strip()));
        }
      }
    }
    return values;
  }
}
