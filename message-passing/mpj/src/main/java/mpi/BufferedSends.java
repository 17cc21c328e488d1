// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.engine.Transfer;
import java.util.ArrayDeque;
import java.util.Iterator;

/** Messages of Bsend that are under way, and how much of the attached buffer they take. */
final class BufferedSends {
  private record Sent(Transfer transfer, long bytes) {}

  private final ArrayDeque<Sent> underWay = new ArrayDeque<>();
  private Object attached;
  private long capacity;
  private long used;

  synchronized void attach(Object buffer, long bytes) {
    if (attached != null) {
      throw new MPIException(
          MPIException.ERR_BUFFER, "a buffer is attached already: call Buffer_detach() first");
    }
    attached = buffer;
    capacity = bytes;
  }

  /**
   * Waits for all, and gives the buffer back.
   *
   * @throws MPIException of the first that has failed; the buffer is detached all the same
   */
  synchronized Object detach() {
    MPIException failure = null;
    while (!underWay.isEmpty()) {
      try {
        Comm.await(underWay.remove().transfer);
      } catch (MPIException e) {
        failure = failure == null ? e : failure;
      }
    }
    used = 0;
    Object was = attached;
    attached = null;
    capacity = 0;
    if (failure != null) {
      throw failure;
    }
    return was;
  }

  synchronized void send(
      Comm comm, Object buffer, int offset, int count, Layout layout, int world, int tag) {
    for (Iterator<Sent> i = underWay.iterator(); i.hasNext(); ) {
      Sent sent = i.next();
      if (sent.transfer.test()) {
        used -= sent.bytes;
        i.remove();
      }
    }
    Object copy = buffer;
    int from = offset;
    int elements = count;
    Layout dense = layout;
    if (layout.base() != BaseType.OBJECT) {
      // First of all: what has room in the attached buffer has a count of elements that is an int.
      reserve((long) count * layout.size() * layout.base().bytes() + MPI.BSEND_OVERHEAD);
      elements = count * layout.size();
      dense = Layout.basic(layout.base(), 1);
      copy = layout.base().newArray(elements);
      from = 0;
      Elements.pack(buffer, offset, count, layout, copy, 0);
    } else {
      reserve(MPI.BSEND_OVERHEAD);
    }
    // Objects are serialized when the transfer is made, so the program's array is free at return.
    Transfer transfer = comm.startSend(copy, from, elements, dense, world, tag, false);
    long bytes = transfer.operation().payload.bytes() + MPI.BSEND_OVERHEAD;
    used += bytes;
    underWay.add(new Sent(transfer, bytes));
  }

  private void reserve(long bytes) {
    if (used + bytes > capacity) {
      throw new MPIException(
          MPIException.ERR_BUFFER,
          "the message takes "
              + bytes
              + " bytes with its overhead: of "
              + capacity
              + " attached "
              + (capacity - used)
              + " are free; attach more by Buffer_attach()");
    }
  }
}
