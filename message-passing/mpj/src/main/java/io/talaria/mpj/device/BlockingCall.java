// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

/** What a rank may sleep for, as {@link Device#describeWait} publishes it. */
public final class BlockingCall {
  /** Nothing: it computes, or is not there yet. */
  public static final int NOTHING = 0;

  /** A send. */
  public static final int SEND = 1;

  /** A receive. */
  public static final int RECV = 2;

  /** A probe. */
  public static final int PROBE = 3;

  /** Any of several operations. */
  public static final int ANY = 4;

  private static final String[] NAMES = {"nothing", "Send", "Recv", "Probe", "Waitany"};

  private BlockingCall() {}

  /**
   * The name of a code.
   *
   * @param call a code
   * @return a word
   */
  public static String name(int call) {
    return call >= 0 && call < NAMES.length ? NAMES[call] : "call " + call;
  }
}
