// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.util.List;

/** The launcher's side of a host of the job: this one, or one that an agent serves. */
interface Host {
  /** How long the reader of the output may keep a launcher waiting that a signal ends. */
  long READER_NS_AT_KILL = 2_000_000_000L;

  /** What happens on a host; called by several threads. */
  interface Events {
    /** A rank's process is there. */
    void hello(int rank, long pid);

    /** A rank says where it listens. */
    void rankAddress(int rank, String rankAddress);

    /** A rank has come through {@code MPI.Init}. */
    void init(int rank);

    /** A rank has come to the end of its messages. */
    void finish(int rank);

    /** A rank has finalized. */
    void finalized(int rank);

    /** A rank has said a line for {@link Survivors}. */
    void said(int rank, String line);

    /** A rank ends the job. */
    void abort(int rank, int status, String why);

    /** A rank's process has ended; 128 + n by signal n. */
    void exited(int rank, long pid, int status);

    /** The host cannot be used, or is lost. */
    void failed(String why);
  }

  /** Its name as the user wrote it; empty for this host alone. */
  String name();

  /** Its number in the job. */
  int number();

  /** Starts its ranks; may return before they run. */
  void start();

  /** Gives all ranks the rank addresses of all, by rank. */
  void rankAddresses(List<String> ofAll);

  /** All ranks have come to the end and may continue. */
  void go();

  /** Sends a line to one of its ranks. */
  void tell(int rank, String line);

  /** What each of its ranks does or waits for, one line each; takes a few seconds at most. */
  List<String> describe();

  /** Asks its ranks to end, and begins to insist after two seconds; returns at once. */
  void stop();

  /**
   * Asks its ranks to end, and waits until nothing of the job is left on the host, some seconds at
   * most, and until what its ranks wrote has been passed on.
   *
   * @param forReaderNs how long the reader of the output may keep that waiting; {@link
   *     Long#MAX_VALUE} is no limit
   */
  void awaitEnd(long forReaderNs);

  /** Ends everything within some seconds: the launcher itself is being ended. */
  void kill();
}
