// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss.snapshot;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.util.Locale;

/** How far a connection is, in one word: what its role, transport and reason say together. */
public enum State {
  /** A listener. */
  LISTENING,
  /** A connection on TCP whose upgrade is under way. */
  NEGOTIATING,
  /** A connection on a faster transport. */
  ACCELERATED,
  /** A connection that stays on TCP. */
  NOT_ACCELERATED;

  /** Returns how far a connection or listener is. */
  public static State of(ConnectionInfo connection) {
    if (connection.role() == Role.LISTENER) {
      return LISTENING;
    }
    if (connection.transport() != NioTransport.TCP) {
      return ACCELERATED;
    }
    return connection.reason() == Reason.PENDING ? NEGOTIATING : NOT_ACCELERATED;
  }

  /** The name used in options and JSON. */
  public String code() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
