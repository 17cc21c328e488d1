// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

/**
 * The message of a failure, whose first line says what has failed; below it may stand what a
 * process has printed.
 *
 * @param message all of it
 */
public record Complaint(String message) {
  /** What a screen shows at a glance. */
  private static final int MAX_LINES = 20;

  private static final String TRACE_LINE = "\tat ";

  /** Returns whether a user should not be shown all of it unasked. */
  public boolean tooMuch() {
    return message.contains(TRACE_LINE) || message.lines().count() > MAX_LINES;
  }

  /** Returns all of it, or the first line alone if that is too much. */
  public String brief() {
    return tooMuch() ? message.lines().findFirst().orElse("") : message;
  }
}
