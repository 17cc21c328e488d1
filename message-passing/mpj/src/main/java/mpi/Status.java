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
    numEls = base == BaseType.OBJECT ? objects : elements(base);
    count = numEls;
  }

  /** Elements that came; undefined if an int cannot say it. */
  private int elements(BaseType base) {
    long elements = bytes >> base.shift();
    return elements > Integer.MAX_VALUE ? MPI.UNDEFINED : (int) elements;
  }

  /**
   * How many of a datatype came.
   *
   * @param datatype which
   * @return a count, or {@link MPI#UNDEFINED} if it is not a whole one or no int, or of objects not
   *     yet received
   */
  public int Get_count(Datatype datatype) throws MPIException {
    int size = Buffers.given(datatype, "datatype").layout().size();
    BaseType base = datatype.layout().base();
    if (bytes % base.bytes() != 0) {
      return MPI.UNDEFINED;
    }
    long elements = base == BaseType.OBJECT ? Get_elements(datatype) : bytes >> base.shift();
    if (elements == MPI.UNDEFINED || size == 0) {
      return elements == 0 ? 0 : MPI.UNDEFINED;
    }
    long count = elements % size == 0 ? elements / size : MPI.UNDEFINED;
    return count > Integer.MAX_VALUE ? MPI.UNDEFINED : (int) count;
  }

  /**
   * How many base elements of a datatype came.
   *
   * @param datatype which
   * @return a count, or {@link MPI#UNDEFINED} if an int cannot say it, or of objects not yet
   *     received
   */
  public int Get_elements(Datatype datatype) throws MPIException {
    BaseType base = Buffers.given(datatype, "datatype").layout().base();
    if (base == BaseType.OBJECT) {
      return objects < 0 && bytes > 0 ? MPI.UNDEFINED : Math.max(0, objects);
    }
    return elements(base);
  }

  /** Whether the request was cancelled. */
  public boolean Test_cancelled() throws MPIException {
    return cancelled;
  }

  /** Does nothing. */
  @Override
  public void free() throws MPIException {}
}
