// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;

/** A client connection's search for an upgrade. Negotiation thread. */
interface Applicant {
  Upgradable channel();

  /** Whether the channel still wants the upgrade. */
  boolean open();

  /** A session has made the channel's offer. */
  void offered(Session to, int id);

  /** It is not to be had there: looks elsewhere, or ends with the reason. */
  void next(Reason reason);

  /** This side cannot offer it over this fabric. */
  void unable(Reason reason);

  /** It is had, or wanted no more. */
  void done();

  /** The channel closes. */
  void cancel();

  /** Does what is due by the clock. */
  void check(long nowNs, long silenceNs);

  /** Whether time has a say in what comes next. */
  boolean watched();

  /** Whether the next look is due soon. */
  boolean young();
}
