// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

/** How a check ended. */
public enum Status {
  /** As it should be. */
  OK("ok"),
  /** Works, but could be better. */
  WARN("warn"),
  /** Is not there, or does not work. */
  MISSING("missing");

  private final String word;

  Status(String word) {
    this.word = word;
  }

  String word() {
    return word;
  }
}
