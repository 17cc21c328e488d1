// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.datatype.BaseType;

/** What became of a message. */
public class Status implements Freeable {
  /** Rank in the communicator that sent it. */
  public int source;

  /** Its tag. */
  public int tag;

  /** Which of several requests this is of. */
  public int index;

  /** Base elements that came. */
  public int count;

  /** Bytes that came. */
  public int countInBytes;

  /** Base elements that came. */
  public int numEls;

  private long bytes;
  private int objects = -1;
  private boolean cancelled;

  /** An empty one. */
  public Status() {
    source = MPI.ANY_SOURCE;
    tag = MPI.ANY_TAG;
  }

  Status(int source, int tag, long bytes, int type, int objects, boolean cancelled) {
    this.source = source;
    this.tag = tag;
    this.bytes = bytes;
    this.objects = objects;
    this.cancelled = cancelled;
    countInBytes = (int) Math.min(bytes, Integer.MAX_VALUE);
    BaseType base = BaseType.of(type);
    numEls = base == BaseType.OBJECT ? objects : (int) (bytes >> base.shift());
    count = numEls;
  }

  /**
   * How many of a datatype came.
   *
   * @param datatype which
   * @return a count, or {@link MPI#UNDEFINED} if it is not a whole one, or of objects not yet
   *     received
   */
  public int Get_count(Datatype datatype) throws MPIException {
    int elements = Get_elements(datatype);
    int size = datatype.layout().size();
    if (elements == MPI.UNDEFINED || size == 0) {
      return elements == 0 ? 0 : MPI.UNDEFINED;
    }
    return elements % size == 0 ? elements / size : MPI.UNDEFINED;
  }

  /**
   * How many base elements of a datatype came.
   *
   * @param datatype which
   */
  public int Get_elements(Datatype datatype) throws MPIException {
    BaseType base = datatype.layout().base();
    if (base == BaseType.OBJECT) {
      return objects < 0 && bytes > 0 ? MPI.UNDEFINED : Math.max(0, objects);
    }
    return (int) (bytes >> base.shift());
  }

  /** Whether the request was cancelled. */
  public boolean Test_cancelled() throws MPIException {
    return cancelled;
  }

  /** Does nothing. */
  @Override
  public void free() throws MPIException {}
}
