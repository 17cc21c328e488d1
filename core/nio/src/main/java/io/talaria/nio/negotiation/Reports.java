// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.process.Descriptors;
import io.talaria.nio.transport.Log;
import java.util.function.BiConsumer;

/** What the negotiation tells people. Any thread. */
public final class Reports {
  private final BiConsumer<String, Throwable> log;

  /**
   * @param log takes lines, seldom, each with what was thrown or null
   */
  Reports(BiConsumer<String, Throwable> log) {
    this.log = log;
  }

  /** Tells that something is not done, and why. */
  public void report(Reason reason, String text) {
    log.accept(reason.code() + ": " + text, null);
  }

  /** Tells a detail of why a connection stays on TCP, to those who want to know. */
  void detail(Reason reason, String text) {
    Log.debug(reason.code() + ": " + text);
  }

  /** Reports what should not have happened. Never throws: the log may be what has failed. */
  public void failure(String what, Throwable cause) {
    try {
      log.accept(Reason.INTERNAL.code() + ": negotiation, " + what + ": " + cause, cause);
    } catch (RuntimeException | Error e) {
      // The failure cannot be reported anywhere.
    }
  }

  /** Reports what could not be done in the run-time directory, and tells why. */
  Reason directoryOrLimit(String what, Exception failure) {
    Reason reason = Descriptors.ranOut(failure) ? Reason.LIMIT : Reason.NO_RUNTIME_DIR;
    report(reason, what + ": " + failure);
    return reason;
  }
}
