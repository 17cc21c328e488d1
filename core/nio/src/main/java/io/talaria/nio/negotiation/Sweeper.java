// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.files.EndedOwners;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.transport.TransportProvider;

/** Removes what processes that have ended have left in the directories. Negotiation thread. */
final class Sweeper {
  private final Negotiator negotiator;
  private final PrivateDirectory directory;

  /** Whether a sweep is due. */
  private boolean due;

  Sweeper(Negotiator negotiator, PrivateDirectory directory) {
    this.negotiator = negotiator;
    this.directory = directory;
  }

  /** The first look at the run-time directory. */
  void begin() {
    Reason unusable = directory.prepare();
    if (unusable == null) {
      sweepDirectory();
    } else {
      negotiator.reports().report(unusable, directory.problem());
    }
  }

  /** Once for all sessions that end together: there may be one for each of a thousand listeners. */
  void sweepLater() {
    if (!due) {
      due = true;
      negotiator.loop().later(this::sweep);
    }
  }

  private void sweep() {
    due = false;
    negotiator.loop().runGuarded("sweeping", this::sweepDirectory);
    for (TransportProvider transport : negotiator.transports().all()) {
      negotiator.loop().runGuarded("sweeping for transport " + transport.name(), transport::sweep);
    }
  }

  private void sweepDirectory() {
    ProcessFileName.sweep(directory.path(), Announcement.PREFIX);
    ProcessFileName.sweep(directory.path(), Announcement.TEMPORARY);
    ProcessCounters.sweep(directory.path());
    EndedOwners.sweep(directory.path()); // last
  }
}
