// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

/**
 * What has taken longer than 10 ms, for the Flight Recorder: waits of the program's threads, and
 * receivers. Any thread. Where this Java has none, and as long as nothing is recorded, all of it
 * does nothing.
 */
public final class Recorded {
  private static final boolean THERE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private Recorded() {}

  /**
   * Before a wait.
   *
   * @return what {@link #waited} wants, or null: nothing is recorded
   */
  public static Object begin() {
    return THERE ? WaitEvent.begun() : null;
  }

  /**
   * After a wait.
   *
   * @param begun from {@link #begin}; null does nothing
   * @param what send, request, room, delivered or connection
   */
  public static void waited(Object begun, String what, int peer) {
    if (begun != null) {
      ((WaitEvent) begun).waited(what, peer);
    }
  }

  /**
   * Before a receiver or request handler.
   *
   * @return what {@link #handled} wants, or null: nothing is recorded
   */
  public static Object beginHandler() {
    return THERE ? HandlerEvent.begun() : null;
  }

  /** After it. */
  public static void handled(Object begun, String type, int peer) {
    if (begun != null) {
      ((HandlerEvent) begun).handled(type, peer);
    }
  }
}
