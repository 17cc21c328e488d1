// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.Matched;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.Transfer;

/** A message that a matched probe has taken: only {@link #Recv} of this object receives it. */
public final class Message {
  private final Comm comm;
  private final Status status;

  /** Null once it was received, and of one from {@link MPI#PROC_NULL}. */
  private Matched matched;

  private boolean received;

  Message(Comm comm, Matched matched, Operation found) {
    this.comm = comm;
    this.matched = matched;
    this.status = comm.status(found, -1, false);
  }

  /** One from {@link MPI#PROC_NULL}, which has nothing. */
  Message(Comm comm) {
    this.comm = comm;
    this.status = Comm.ofNobody();
  }

  /** What is known of it. */
  public Status Status() {
    return status;
  }

  /** Receives it. */
  public Status Recv(Object buf, int offset, int count, Datatype datatype) throws MPIException {
    return Irecv(buf, offset, count, datatype).Wait();
  }

  /** Starts to receive it. */
  public Request Irecv(Object buf, int offset, int count, Datatype datatype) throws MPIException {
    if (received) {
      throw new MPIException(MPIException.ERR_REQUEST, "this message was received before");
    }
    Object buffer = Buffers.normal(buf, datatype);
    Buffers.checkReceive(buffer, offset, count, Comm.committed(datatype), datatype);
    if (matched == null) {
      received = true;
      return new Request(Comm.ofNobody());
    }
    Transfer transfer =
        Transfer.receive(
            comm.engineOfTaken(),
            buffer,
            offset,
            count,
            datatype.layout(),
            matched,
            comm.context());
    matched = null;
    received = true;
    return new Request(comm, transfer);
  }
}
