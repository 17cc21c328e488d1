// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Ucx;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the examples that are named, or all: both sides here, each in a thread; or with {@code
 * --listen PORT} the first side only, and with {@code --connect HOST:PORT} the second. Ends with 1
 * if one of them does not find what it must.
 */
public final class Examples {
  private static final Map<String, Example> ALL = new LinkedHashMap<>();

  static {
    ALL.put(
        "messaging",
        new Example(MessagingExample::run, "sent «how are you?», received «12 letters of thanks»"));
    ALL.put(
        "streaming",
        new Example(StreamingExample::run, "6553600 bytes in chunks, their sum is 835584000"));
    ALL.put(
        "active-messages",
        new Example(ActiveMessagesExample::run, "the last of 100000 squares is 9999800001"));
    ALL.put(
        "remote-memory",
        new Example(RemoteMemoryExample::run, "read back «written from afar» and 1000000 bytes"));
    ALL.put(
        "atomics",
        new Example(AtomicsExample::run, "counted to 297, then 301; locked: true, again: false"));
    ALL.put("wake-up", new Example(WakeUpExample::run, "descriptor there"));
  }

  /** What an example does; gives what its first side has found out. */
  @FunctionalInterface
  interface Body {
    String run() throws Exception;
  }

  /**
   * An example.
   *
   * @param begins how that must begin
   */
  record Example(Body body, String begins) {}

  private Examples() {}

  static Map<String, Example> all() {
    return ALL;
  }

  /** Runs the examples that the arguments name, or all of them. */
  public static void main(String[] args) throws Exception {
    if (Ucx.unavailableReason().isPresent()) {
      System.err.println(Ucx.unavailableReason().get());
      System.exit(69);
    }
    List<String> names = Arrays.asList(args);
    boolean second = names.indexOf("--connect") == 0;
    if (names.size() >= 2 && (second || names.get(0).equals("--listen"))) {
      Sides.apart(post(names.get(1)));
      names = names.subList(2, names.size());
    }
    for (String name : names.isEmpty() ? List.copyOf(ALL.keySet()) : names) {
      Example example = ALL.get(name);
      if (example == null) {
        System.err.println("no example " + name + "; there are " + String.join(", ", ALL.keySet()));
        System.exit(2);
      }
      String found = example.body().run();
      System.out.println(name + ": " + found);
      if (!second && !found.startsWith(example.begins())) {
        System.err.println(name + " should have found: " + example.begins());
        System.exit(1);
      }
    }
  }

  private static SocketPost post(String place) throws Exception {
    int colon = place.lastIndexOf(':');
    int port = Integer.parseInt(place.substring(colon + 1));
    return colon < 0
        ? SocketPost.listen(port)
        : SocketPost.connect(place.substring(0, colon), port);
  }
}
