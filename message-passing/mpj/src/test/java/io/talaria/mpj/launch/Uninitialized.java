// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

/** A program of {@link MpirunTest} whose class cannot be initialized. */
public final class Uninitialized {
  private static final int NUMBER = Integer.parseInt("no number");

  private Uninitialized() {}

  /**
   * Is never run.
   *
   * @param args none
   */
  public static void main(String[] args) {
    System.out.println(NUMBER);
  }
}
