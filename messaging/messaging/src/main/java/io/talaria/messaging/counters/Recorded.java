// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

/**
 * Records in the Flight Recorder what took longer than 10 ms: waits of the program's threads, and
 * receivers. Any thread. Does nothing if this JVM has no Flight Recorder, or while no recording
 * runs.
 */
public final class Recorded {
  private static final boolean THERE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private Recorded() {}

  /**
   * Call before a wait.
   *
   * @return the argument for {@link #waited}; null if nothing is recorded
   */
  public static Object begin() {
    return THERE ? WaitEvent.begun() : null;
  }

  /**
   * Call after a wait.
   *
   * @param begun from {@link #begin}; null does nothing
   * @param what response, room, delivered or connection
   */
  public static void waited(Object begun, String what, int peer) {
    if (begun != null) {
      ((WaitEvent) begun).waited(what, peer);
    }
  }

  /**
   * Call before a receiver or request handler.
   *
   * @return the argument for {@link #handled}; null if nothing is recorded
   */
  public static Object beginHandler() {
    return THERE ? HandlerEvent.begun() : null;
  }

  /** Call after a receiver or request handler. */
  public static void handled(Object begun, String type, int peer) {
    if (begun != null) {
      ((HandlerEvent) begun).handled(type, peer);
    }
  }
}
