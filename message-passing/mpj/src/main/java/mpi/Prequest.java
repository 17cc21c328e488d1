// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.engine.Transfer;
import java.util.function.Supplier;

/**
 * A send, receive or collective that can be started again and again with the same arguments. It is
 * inactive until it is started, and again once it was waited for; it is null only once it is freed.
 */
public class Prequest extends Request {
  private final Supplier<Transfer> start;
  private boolean freed;

  Prequest(Comm comm, Supplier<Transfer> start) {
    super(comm);
    this.start = start;
  }

  /** Whether it was freed. */
  @Override
  public boolean Is_null() throws MPIException {
    return freed;
  }

  /** Gives it back; a message under way continues. An error if it was freed before. */
  @Override
  public void Free() throws MPIException {
    super.Free();
    freed = true;
  }

  private void startable() {
    if (freed) {
      throw new MPIException(MPIException.ERR_REQUEST, "Start of a request that was freed");
    }
    if (isActive()) {
      throw new MPIException(
          MPIException.ERR_REQUEST, "this request was started and not waited for since");
    }
  }

  /** Starts it. An error if it is active, or was freed. */
  public void Start() throws MPIException {
    startable();
    begin();
  }

  /** Gives it something to wait for. */
  void begin() {
    Transfer started = start.get();
    if (started == null) {
      restart(Comm.ofNobody());
    } else {
      restart(started);
    }
  }

  /**
   * Starts several; none of them if one cannot be started.
   *
   * @param requests inactive ones
   */
  public static void Startall(Prequest[] requests) throws MPIException {
    if (requests == null) {
      throw new MPIException(MPIException.ERR_ARG, "Startall: the array of requests is null");
    }
    for (int i = 0; i < requests.length; i++) {
      if (requests[i] == null) {
        throw new MPIException(MPIException.ERR_REQUEST, "Startall: request " + i + " is null");
      }
      requests[i].startable();
    }
    for (Prequest request : requests) {
      request.Start();
    }
  }
}
