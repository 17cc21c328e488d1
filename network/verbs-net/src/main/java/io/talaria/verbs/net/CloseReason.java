// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.util.Objects;

/**
 * Why a connection is closed. Immutable.
 *
 * @param kind what has happened
 * @param text in words
 */
public record CloseReason(Kind kind, String text) {
  /** What can end a connection. */
  public enum Kind {
    /** The program has closed it, or its node. */
    LOCAL,
    /** The peer has closed it, or its process has ended, or its host is gone. */
    PEER,
    /** A request failed. */
    FAILED,
    /** A handler or listener has thrown. */
    HANDLER,
    /** The peer has sent what the protocol does not allow. */
    PROTOCOL,
    /** The device does not work any more. */
    DEVICE
  }

  /** Checks that both are there. */
  public CloseReason {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(text, "text");
  }

  @Override
  public String toString() {
    return kind + ": " + text;
  }
}
