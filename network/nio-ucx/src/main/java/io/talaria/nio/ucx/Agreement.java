// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

/**
 * Whether a stream is used at all, agreed by messages of the session. The side that accepted the
 * connection decides: established once both readers are ready, withdrawn if it withdraws before.
 * The side that connected may withdraw alone until its reader is ready. After that it does not know
 * what is being decided; then it keeps only its own output on TCP, and its input follows what the
 * peer decides. So no call waits. Guarded by itself; what the stream's owner is told is told
 * without the guard.
 */
final class Agreement {
  private final UcxStream stream;
  private final boolean decides;
  private boolean accepted;
  private boolean peerAccepted;
  private boolean withdrawn;

  /** The side that does not decide has taken its output back. */
  private boolean outputStays;

  /** So has the peer, which does not decide, while this side decided otherwise. */
  private boolean peerOutputStays;

  private volatile boolean established;

  Agreement(UcxStream stream, boolean decides) {
    this.stream = stream;
    this.decides = decides;
  }

  synchronized void accept() {
    if (accepted || withdrawn) {
      return;
    }
    accepted = true;
    if (!decides) {
      stream.tell(UcxMessages.ACCEPT, true);
    } else if (peerAccepted) {
      establish();
    }
  }

  private void establish() {
    assert Thread.holdsLock(this);
    established = true;
    stream.tell(UcxMessages.ESTABLISHED, true);
  }

  /** Whether this side's output may switch. */
  boolean established() {
    return established && !outputStays();
  }

  private boolean outputStays() {
    return !decides && outputStaysNow();
  }

  private synchronized boolean outputStaysNow() {
    return outputStays;
  }

  /** Whether this side's output stays on TCP; false if it is too late for that. */
  synchronized boolean withdraw() {
    if (withdrawn || outputStays) {
      return true;
    }
    if (established) {
      return false;
    }
    if (decides || !accepted) {
      withdrawn = true;
    } else if (stream.peer().gone()) {
      return false; // it will never be known: the connection is lost
    } else {
      outputStays = true;
    }
    stream.tell(UcxMessages.WITHDRAWN, false);
    return true;
  }

  /** Whether it is decided that both directions stay on TCP. */
  boolean withdrawn() {
    return !established && withdrawnNow();
  }

  private synchronized boolean withdrawnNow() {
    return withdrawn;
  }

  /** Whether the peer's output may switch, or have switched, as far as is known. */
  synchronized boolean peerMaySwitch() {
    return decides ? established && !peerOutputStays : accepted && !withdrawn;
  }

  /** Whether the peer's output switches before it ends, as far as is known. */
  synchronized boolean peerSwitches() {
    return established && !peerOutputStays;
  }

  /** Whether the peer's output is on TCP, and ends there if that ends now. */
  synchronized boolean peerEndsOnTcp() {
    return decides && !withdrawn && (!established || peerOutputStays);
  }

  /** The connecting side's reader is ready. Negotiation thread. */
  void peerAccepted(int windowBytes) {
    stream.peerWindow(windowBytes);
    synchronized (this) {
      if (!decides || peerAccepted || withdrawn) {
        return;
      }
      peerAccepted = true;
      if (!accepted) {
        return;
      }
      establish();
    }
    stream.owner().woken();
  }

  /** The accepting side has decided for the stream. Negotiation thread. */
  void peerEstablished(int windowBytes) {
    stream.peerWindow(windowBytes);
    synchronized (this) {
      if (decides || established || withdrawn || !accepted) {
        return;
      }
      established = true;
    }
    stream.owner().woken();
  }

  /** The peer has withdrawn, or asks for it. Negotiation thread. */
  void peerWithdrew() {
    synchronized (this) {
      if (established) {
        peerOutputStays = decides;
        return;
      }
      if (withdrawn) {
        return;
      }
      withdrawn = true;
      if (decides) {
        stream.tell(UcxMessages.WITHDRAWN, false);
      }
    }
    if (stream.owner() != null) {
      stream.owner().released();
    }
  }
}
