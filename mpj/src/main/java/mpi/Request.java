// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.Transfer;
import java.util.ArrayList;

/** A send or receive under way. Once waited for, or tested as over, it is null in MPI's sense. */
public class Request {
  private final Comm comm;
  private Transfer transfer;

  /** Whether there is nothing to do at all: a message to or from nobody. */
  private Status ready;

  /** A transfer to start again, as persistent requests are; then it stays usable. */
  Request(Comm comm, Transfer transfer) {
    this.comm = comm;
    this.transfer = transfer;
  }

  /** One that is over from the start. */
  Request(Status ready) {
    this.comm = null;
    this.ready = ready;
  }

  final void restart(Transfer started) {
    transfer = started;
  }

  final void restart(Status over) {
    ready = over;
  }

  private Operation operation() {
    return transfer == null ? null : transfer.operation();
  }

  /** Whether it stands for nothing any more. */
  public boolean Is_null() throws MPIException {
    return transfer == null && ready == null;
  }

  /** Gives it back; a message under way goes on. */
  public void Free() throws MPIException {
    transfer = null;
    ready = null;
  }

  /** Asks to cancel; it still has to be waited for, and the status says whether it was. */
  public void Cancel() throws MPIException {
    if (transfer != null) {
      transfer.cancel();
    }
  }

  /** Waits until it is over. */
  public Status Wait() throws MPIException {
    if (transfer == null) {
      return takeReady();
    }
    Transfer over = transfer;
    try {
      over.await();
    } finally {
      transfer = null;
    }
    return comm.status(over);
  }

  private Status takeReady() {
    Status status = ready == null ? new Status() : ready;
    ready = null;
    return status;
  }

  /** Looks whether it is over: its status, or null. */
  public Status Test() throws MPIException {
    if (transfer == null) {
      return takeReady();
    }
    return transfer.test() ? Wait() : null;
  }

  private static boolean over(Request r) {
    return r.ready != null || (r.transfer != null && r.transfer.operation().done);
  }

  private static boolean active(Request r) {
    return r != null && !r.Is_null();
  }

  private static Status undefined() {
    Status status = new Status();
    status.index = MPI.UNDEFINED;
    return status;
  }

  private static Status at(int index, Status status) {
    status.index = index;
    return status;
  }

  /** Makes progress for whatever is under way; false if nothing is. */
  private static boolean progress(Request[] requests) {
    for (Request r : requests) {
      if (active(r)) {
        if (r.comm != null) {
          r.comm.engine().progress();
        }
        return true;
      }
    }
    return false;
  }

  /** Waits until one is over, unless none is active. */
  private static boolean awaitOne(Request[] requests) {
    Operation[] operations = new Operation[requests.length];
    Comm some = null;
    for (int i = 0; i < requests.length; i++) {
      if (active(requests[i])) {
        if (requests[i].ready != null) {
          return true;
        }
        operations[i] = requests[i].operation();
        some = requests[i].comm;
      }
    }
    if (some == null) {
      return false;
    }
    some.engine().awaitAny(operations);
    return true;
  }

  private static Status takeAny(Request[] requests) {
    for (int i = 0; i < requests.length; i++) {
      if (active(requests[i]) && over(requests[i])) {
        return at(i, requests[i].Wait());
      }
    }
    return null;
  }

  private static Status[] takeSome(Request[] requests) {
    ArrayList<Status> taken = new ArrayList<>();
    for (int i = 0; i < requests.length; i++) {
      if (active(requests[i]) && over(requests[i])) {
        taken.add(at(i, requests[i].Wait()));
      }
    }
    return taken.toArray(new Status[0]);
  }

  /**
   * Waits for one of several: its status says which, by its index.
   *
   * @param requests any; nulls are passed over
   */
  public static Status Waitany(Request[] requests) throws MPIException {
    return awaitOne(requests) ? takeAny(requests) : undefined();
  }

  /**
   * Looks whether one of several is over: its status, or null.
   *
   * @param requests any
   */
  public static Status Testany(Request[] requests) throws MPIException {
    return progress(requests) ? takeAny(requests) : undefined();
  }

  /**
   * Waits for all.
   *
   * @param requests any
   * @return their statuses
   */
  public static Status[] Waitall(Request[] requests) throws MPIException {
    Status[] statuses = new Status[requests.length];
    for (int i = 0; i < requests.length; i++) {
      statuses[i] = at(i, requests[i] == null ? new Status() : requests[i].Wait());
    }
    return statuses;
  }

  /**
   * Looks whether all are over: their statuses, or null.
   *
   * @param requests any
   */
  public static Status[] Testall(Request[] requests) throws MPIException {
    progress(requests);
    for (Request r : requests) {
      if (active(r) && !over(r)) {
        return null;
      }
    }
    return Waitall(requests);
  }

  /**
   * Waits until at least one is over: the statuses of all that are, or null if none is active.
   *
   * @param requests any
   */
  public static Status[] Waitsome(Request[] requests) throws MPIException {
    return awaitOne(requests) ? takeSome(requests) : null;
  }

  /**
   * The statuses of all that are over, or null if none is active.
   *
   * @param requests any
   */
  public static Status[] Testsome(Request[] requests) throws MPIException {
    return progress(requests) ? takeSome(requests) : null;
  }
}
