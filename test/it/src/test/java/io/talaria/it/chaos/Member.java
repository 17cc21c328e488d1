// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One process of a storm, from its start to its death, at an IP address that no other has. Confined
 * to the test's thread.
 */
final class Member {
  final int seat;
  final boolean lasting;
  final String address;
  final Path journal;
  final Child child;

  boolean killed;
  boolean stopped;
  Event status;
  long statuses;
  int baseDescriptors;
  private List<Integer> ports = List.of();
  private long readyNs;
  private final List<long[]> disturbances = new ArrayList<>();

  Member(int seat, boolean lasting, String address, Path journal, Child child) {
    this.seat = seat;
    this.lasting = lasting;
    this.address = address;
    this.journal = journal;
    this.child = child;
    this.readyNs = System.nanoTime();
  }

  boolean ready() {
    return !ports.isEmpty() && !killed;
  }

  /** Where its listeners are; none until it is ready. */
  List<Integer> ports() {
    return ports;
  }

  void ready(Event event) {
    ports = List.of((int) event.number("blocking"), (int) event.number("selector"));
    readyNs = event.nanoTime();
  }

  void heard(Event event) {
    status = event;
    statuses++;
  }

  /** When it last gave a sign of life. */
  long heardNs() {
    return status == null ? readyNs : status.nanoTime();
  }

  /** One of its numbers, 0 before it has told any. */
  long number(String key) {
    return status == null ? 0 : status.number(key);
  }

  void tell(String command) throws IOException {
    child.send(command);
  }

  /** From now on, for so long, nobody may expect progress of it. */
  void disturbed(long fromNs, long untilNs) {
    disturbances.add(new long[] {fromNs, untilNs});
  }

  /** How much of a time it was disturbed; what overlaps counts twice, which is on its side. */
  long disturbedNs(long fromNs, long untilNs) {
    long sum = 0;
    for (long[] one : disturbances) {
      sum += Math.max(0, Math.min(untilNs, one[1]) - Math.max(fromNs, one[0]));
    }
    return sum;
  }

  @Override
  public String toString() {
    return address + " " + child;
  }
}
