// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Ucx;
import java.util.LinkedHashMap;
import java.util.Map;

/** Runs the example that is named, or all. */
public final class Examples {
  private static final Map<String, Example> ALL = new LinkedHashMap<>();

  static {
    ALL.put("messaging", MessagingExample::run);
    ALL.put("streaming", StreamingExample::run);
    ALL.put("active-messages", ActiveMessagesExample::run);
    ALL.put("remote-memory", RemoteMemoryExample::run);
    ALL.put("atomics", AtomicsExample::run);
    ALL.put("wake-up", WakeUpExample::run);
  }

  /** An example; gives what it has found out. */
  @FunctionalInterface
  interface Example {
    String run() throws Exception;
  }

  private Examples() {}

  static Map<String, Example> all() {
    return ALL;
  }

  /** Runs the examples that the arguments name, or all of them. */
  public static void main(String[] args) throws Exception {
    if (Ucx.obstacle().isPresent()) {
      System.err.println(Ucx.obstacle().get());
      System.exit(69);
    }
    for (String name : args.length == 0 ? ALL.keySet().toArray(new String[0]) : args) {
      Example example = ALL.get(name);
      if (example == null) {
        System.err.println("no example " + name + "; there are " + String.join(", ", ALL.keySet()));
        System.exit(2);
      }
      System.out.println(name + ": " + example.run());
    }
  }
}
