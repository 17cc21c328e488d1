// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.Operation;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Transfer;
import java.util.ArrayList;

/**
 * A send or receive under way. Once waited for, or tested as over, it is null in MPI's sense; a
 * {@link Prequest} is inactive then, and null only once it is freed. {@link #Wait}, {@link #Test}
 * and what waits for several of them take null and inactive requests for over, with an empty
 * status; {@link #Cancel} and {@link #Free} of a null one are errors.
 *
 * <p>Elements side by side are an operation of the engine's, which gets it back when it was waited
 * for; anything else is a {@link Transfer}.
 */
public class Request {
  private final Comm comm;
  private Transfer transfer;
  private Operation plain;

  /** The status if there is nothing to do at all: a message to or from {@link MPI#PROC_NULL}. */
  private Status ready;

  /** One that {@link #restart} gives something to do, again and again. */
  Request(Comm comm) {
    this.comm = comm;
  }

  /** A transfer that was started. */
  Request(Comm comm, Transfer transfer) {
    this.comm = comm;
    this.transfer = transfer;
  }

  /** An operation that the engine has given out. */
  Request(Comm comm, Operation plain) {
    this.comm = comm;
    this.plain = plain;
  }

  /** One that is over from the start. */
  Request(Status ready) {
    this.comm = null;
    this.ready = ready;
  }

  final void restart(Transfer started) {
    transfer = started;
  }

  final void restart(Operation started) {
    plain = started;
  }

  final void restart(Status over) {
    ready = over;
  }

  private Operation operation() {
    return plain != null ? plain : transfer == null ? null : transfer.operation();
  }

  /** Whether there is something to wait for. */
  final boolean isActive() {
    return plain != null || transfer != null || ready != null;
  }

  /** Whether it stands for nothing any more. */
  public boolean Is_null() throws MPIException {
    return !isActive();
  }

  /** Throws if it is null. */
  private void notNull(String call) {
    if (Is_null()) {
      throw new MPIException(
          MPIException.ERR_REQUEST,
          call + " of a null request: it was waited for, tested as over, or freed");
    }
  }

  /** Gives it back; a message under way continues. An error if the request is null. */
  public void Free() throws MPIException {
    notNull("Free");
    plain = null;
    transfer = null;
    ready = null;
  }

  /**
   * Asks to cancel; it still has to be waited for, and the status says whether it was. An error if
   * the request is null; nothing happens if it is inactive.
   */
  public void Cancel() throws MPIException {
    notNull("Cancel");
    if (plain != null) {
      comm.engineOfRequests().cancel(plain);
    } else if (transfer != null) {
      transfer.cancel();
    }
  }

  /** Waits until it is over; returns an empty status at once if it is null or inactive. */
  public Status Wait() throws MPIException {
    if (plain != null) {
      return waitPlain();
    }
    if (transfer == null) {
      return takeReady();
    }
    Transfer over = transfer;
    try {
      Comm.await(over);
    } finally {
      transfer = null;
    }
    return comm.status(over);
  }

  private Status waitPlain() {
    Operation op = plain;
    plain = null;
    return comm.engineOfRequests().finish(op, comm.outcome());
  }

  private Status takeReady() {
    Status status = ready == null ? new Status() : ready;
    ready = null;
    return status;
  }

  /** Looks whether it is over: its status, or null. Null and inactive requests are over. */
  public Status Test() throws MPIException {
    if (plain != null) {
      return comm.engineOfRequests().test(plain) ? waitPlain() : null;
    }
    if (transfer == null) {
      return takeReady();
    }
    return transfer.test() ? Wait() : null;
  }

  /** Whether it is over, asked without making progress. */
  static boolean isOver(Request r) {
    if (r.ready != null) {
      return true;
    }
    Operation op = r.operation();
    return op != null && op.over();
  }

  private static boolean active(Request r) {
    return r != null && r.isActive();
  }

  /** Throws where the array itself is missing; null elements stand for null requests. */
  private static void array(String call, Request[] requests) {
    if (requests == null) {
      throw new MPIException(MPIException.ERR_ARG, call + ": the array of requests is null");
    }
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

  /** Makes progress for whatever is under way; false if none is active. */
  private static boolean progress(Request[] requests) {
    boolean any = false;
    for (Request r : requests) {
      if (active(r)) {
        any = true;
        // One that is over from the start has no communicator: others may be under way.
        if (r.comm != null) {
          r.comm.engineOfRequests().progress();
          break;
        }
      }
    }
    return any;
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
    // The operation that is over, not this call, tells of a communicator that was revoked.
    some.engineOfRequests().awaitAny(operations);
    return true;
  }

  private static Status takeAny(Request[] requests) {
    for (int i = 0; i < requests.length; i++) {
      if (active(requests[i]) && isOver(requests[i])) {
        return at(i, requests[i].Wait());
      }
    }
    return null;
  }

  private static Status[] takeSome(Request[] requests) {
    ArrayList<Status> taken = new ArrayList<>();
    for (int i = 0; i < requests.length; i++) {
      Request r = requests[i];
      // After others a failure is for the next call: their statuses would be lost by its exception.
      if (active(r) && isOver(r) && (taken.isEmpty() || !r.failed())) {
        taken.add(at(i, r.Wait()));
      }
    }
    return taken.toArray(new Status[0]);
  }

  /** Whether {@link #Wait} throws; it must be over. */
  private boolean failed() {
    if (transfer != null) {
      return transfer.failed();
    }
    return plain != null && plain.error != Operation.OK && plain.error != Operation.CANCELLED;
  }

  /**
   * Waits for one of several: its status says which, by its index, which is {@link MPI#UNDEFINED}
   * if none is active.
   *
   * @param requests any; null and inactive ones are passed over
   */
  public static Status Waitany(Request[] requests) throws MPIException {
    array("Waitany", requests);
    return awaitOne(requests) ? takeAny(requests) : undefined();
  }

  /**
   * Looks whether one of several is over: its status, or null; if none is active, a status with
   * index {@link MPI#UNDEFINED}.
   *
   * @param requests any; null and inactive ones are passed over
   */
  public static Status Testany(Request[] requests) throws MPIException {
    array("Testany", requests);
    return progress(requests) ? takeAny(requests) : undefined();
  }

  /** Requests that follow each other and are operations of one engine: waited for in one go. */
  private static final class PlainOnes implements Engine.Run {
    private final Engine engine;
    private final Request[] requests;
    private final Status[] statuses;
    private Comm comm;
    private int next;

    PlainOnes(Engine engine, Request[] requests, Status[] statuses, int first) {
      this.engine = engine;
      this.requests = requests;
      this.statuses = statuses;
      this.next = first;
    }

    @Override
    public Operation next() {
      Request r = next == requests.length ? null : requests[next];
      Operation op = r == null ? null : r.plain;
      if (op == null || r.comm.engineOfRequests() != engine) {
        return null;
      }
      next++;
      comm = r.comm;
      r.plain = null;
      return op;
    }

    @Override
    public void over(Operation op) {
      statuses[next - 1] = at(next - 1, comm.outcome().apply(op));
    }
  }

  /**
   * Waits for all. If one failed, its exception is thrown, and the others are for the next call,
   * with their statuses.
   *
   * @param requests any
   * @return their statuses
   */
  public static Status[] Waitall(Request[] requests) throws MPIException {
    array("Waitall", requests);
    Status[] statuses = new Status[requests.length];
    boolean anyInactive = false;
    try {
      for (int i = 0; i < requests.length; i++) {
        Request r = requests[i];
        if (r != null && r.plain != null) {
          Engine engine = r.comm.engineOfRequests();
          PlainOnes several = new PlainOnes(engine, requests, statuses, i);
          engine.finish(several);
          i = several.next - 1;
        } else if (active(r)) {
          statuses[i] = at(i, r.Wait());
        } else {
          anyInactive = true;
        }
      }
    } catch (RuntimeException e) {
      for (int i = 0; i < requests.length; i++) {
        if (statuses[i] != null) {
          requests[i].restart(statuses[i]);
        }
      }
      throw e;
    }
    for (int i = 0; anyInactive && i < statuses.length; i++) {
      if (statuses[i] == null) {
        statuses[i] = at(i, new Status());
      }
    }
    return statuses;
  }

  /**
   * Looks whether all are over: their statuses, or null. A failure is as in {@link #Waitall}.
   *
   * @param requests any
   */
  public static Status[] Testall(Request[] requests) throws MPIException {
    array("Testall", requests);
    progress(requests);
    for (Request r : requests) {
      if (active(r) && !isOver(r)) {
        return null;
      }
    }
    return Waitall(requests);
  }

  /**
   * Waits until at least one is over: the statuses of all that are, but for those that failed. If
   * the first that is over failed, its exception is thrown, and the others are for the next call.
   * Where MPI's count of them is undefined, because none is active, mpiJava returns null, and so
   * does this.
   *
   * @param requests any; null and inactive ones are passed over
   */
  public static Status[] Waitsome(Request[] requests) throws MPIException {
    array("Waitsome", requests);
    return awaitOne(requests) ? takeSome(requests) : null;
  }

  /**
   * The statuses of all that are over, but for those that failed; an array of length 0 if none is
   * yet. If the first that is over failed, its exception is thrown, and the others are for the next
   * call. Where MPI's count of them is undefined, because none is active, mpiJava returns null, and
   * so does this.
   *
   * @param requests any; null and inactive ones are passed over
   */
  public static Status[] Testsome(Request[] requests) throws MPIException {
    array("Testsome", requests);
    return progress(requests) ? takeSome(requests) : null;
  }
}
