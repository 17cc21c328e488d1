// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import io.talaria.monitor.Reading;

/**
 * The outcome of a performance query.
 *
 * @param status how it went
 * @param reading its counters; null unless it {@link Status#RESPONDED}
 */
public record QueryResult(Status status, Reading reading) {
  /** How a query went. */
  public enum Status {
    /** Here are the counters. */
    RESPONDED("responded"),
    /** Nothing came in time. */
    SILENT("silent: no response in time"),
    /** The response was an error. */
    REFUSED("refused: the response is an error"),
    /** It has no LID, so no subnet manager has been there: messages cannot reach it. */
    NO_LID("no LID: start a subnet manager, such as opensm");

    private final String text;

    Status(String text) {
      this.text = text;
    }

    /**
     * The status as words to be displayed.
     *
     * @return a few words
     */
    public String text() {
      return text;
    }
  }

  static QueryResult without(Status status) {
    return new QueryResult(status, null);
  }
}
