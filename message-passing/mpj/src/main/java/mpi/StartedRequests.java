// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.Operation;
import java.util.function.Supplier;

/** Requests of collectives and of accesses: MPI neither cancels nor frees those under way. */
final class StartedRequests {
  private static final String COLLECTIVE = "a collective";

  private StartedRequests() {}

  private static void refuse(Request request, String call, String what) {
    if (request.isActive()) {
      throw new MPIException(
          MPIException.ERR_REQUEST, call + " of " + what + " that was started: wait for it");
    }
  }

  /** Something that was started once. */
  static final class Started extends Request {
    private final String what;

    private Started(Comm comm, Operation over, String what) {
      super(comm, over);
      this.what = what;
    }

    /** A collective. */
    static Started collective(Comm comm, Operation over) {
      return new Started(comm, over, COLLECTIVE);
    }

    /** An access to a window. */
    static Started access(Comm comm, Operation over) {
      return new Started(comm, over, "an access");
    }

    @Override
    public void Cancel() throws MPIException {
      refuse(this, "Cancel", what);
      super.Cancel();
    }

    @Override
    public void Free() throws MPIException {
      refuse(this, "Free", what);
      super.Free();
    }
  }

  /** A collective that is started again and again; MPI frees inactive ones. */
  static final class Persistent extends Prequest {
    private final Supplier<Operation> collective;

    /**
     * Not started.
     *
     * @param collective starts it
     */
    Persistent(Comm comm, Supplier<Operation> collective) {
      super(comm, () -> null);
      this.collective = collective;
    }

    @Override
    void begin() {
      restart(collective.get());
    }

    @Override
    public void Cancel() throws MPIException {
      refuse(this, "Cancel", COLLECTIVE);
      super.Cancel();
    }

    @Override
    public void Free() throws MPIException {
      refuse(this, "Free", COLLECTIVE);
      super.Free();
    }
  }
}
