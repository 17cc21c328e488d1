// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.Operation;
import java.util.function.Supplier;

/** Requests of collectives: MPI neither cancels nor frees those under way. */
final class CollectiveRequests {
  private CollectiveRequests() {}

  private static void refuse(Request request, String call) {
    if (request.isActive()) {
      throw new MPIException(
          MPIException.ERR_REQUEST, call + " of a collective that was started: wait for it");
    }
  }

  /** A collective that was started. */
  static final class Started extends Request {
    Started(Comm comm, Operation over) {
      super(comm, over);
    }

    @Override
    public void Cancel() throws MPIException {
      refuse(this, "Cancel");
      super.Cancel();
    }

    @Override
    public void Free() throws MPIException {
      refuse(this, "Free");
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
      refuse(this, "Cancel");
      super.Cancel();
    }

    @Override
    public void Free() throws MPIException {
      refuse(this, "Free");
      super.Free();
    }
  }
}
