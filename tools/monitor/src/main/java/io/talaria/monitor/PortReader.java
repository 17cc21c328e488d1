// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import io.talaria.monitor.sysfs.CounterFile;
import java.util.ArrayList;
import java.util.List;

/** Reads the counters of one port. For one thread at a time. */
final class PortReader implements AutoCloseable {
  private final List<PortScan.Source> sources;
  private final List<Counter> counters;
  private final CounterFile[] files;
  private final int[] sourceOf;
  private final long[] readNs;
  private final boolean[] wasRead;
  private Port port;
  private Reading last;

  PortReader(PortScan.Found found, CounterFile.Budget budget) {
    port = found.port();
    sources = found.sources();
    List<Counter> all = new ArrayList<>();
    List<CounterFile> opened = new ArrayList<>();
    List<Integer> origins = new ArrayList<>();
    for (int s = 0; s < sources.size(); s++) {
      for (String name : sources.get(s).names()) {
        all.add(Counter.named(sources.get(s).kind(), name));
        opened.add(new CounterFile(sources.get(s).directory().resolve(name), budget));
        origins.add(s);
      }
    }
    counters = List.copyOf(all);
    files = opened.toArray(CounterFile[]::new);
    sourceOf = origins.stream().mapToInt(Integer::intValue).toArray();
    readNs = new long[sources.size()];
    wasRead = new boolean[sources.size()];
  }

  /** Whether it reads exactly the files that were found. */
  boolean reads(PortScan.Found found) {
    return port.id().equals(found.port().id()) && sources.equals(found.sources());
  }

  Port port() {
    return port;
  }

  void update(Port now) {
    port = now;
  }

  Reading read() {
    int size = files.length;
    long[] values = new long[size];
    boolean[] known = new boolean[size];
    long[] atNs = new long[size];
    boolean[] due = new boolean[sources.size()];
    long now = System.nanoTime();
    for (int s = 0; s < due.length; s++) {
      due[s] = !wasRead[s] || now - readNs[s] >= sources.get(s).lifespanNs();
      if (due[s]) {
        readNs[s] = now;
        wasRead[s] = true;
      }
    }
    for (int i = 0; i < size; i++) {
      if (due[sourceOf[i]]) {
        known[i] = files[i].read();
        values[i] = known[i] ? files[i].value() : 0;
        atNs[i] = now;
      } else {
        known[i] = last.known(i);
        values[i] = last.value(i);
        atNs[i] = last.atNs(i);
      }
    }
    last = new Reading(port, counters, values, known, atNs);
    return last;
  }

  @Override
  public void close() {
    for (CounterFile file : files) {
      file.close();
    }
  }
}
