// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.engine.Transfer;
import java.util.function.Supplier;

/** A send or receive that can be started again and again with the same arguments. */
public class Prequest extends Request {
  private final Supplier<Transfer> start;

  Prequest(Comm comm, Supplier<Transfer> start) {
    super(comm);
    this.start = start;
  }

  /** Starts it. */
  public void Start() throws MPIException {
    if (!Is_null()) {
      throw new MPIException(
          MPIException.ERR_REQUEST, "this request was started and not waited for since");
    }
    Transfer started = start.get();
    if (started == null) {
      restart(Comm.ofNobody());
    } else {
      restart(started);
    }
  }

  /**
   * Starts several.
   *
   * @param requests any
   */
  public static void Startall(Prequest[] requests) throws MPIException {
    for (Prequest request : requests) {
      request.Start();
    }
  }
}
