// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.collective.Reduction;
import io.talaria.mpj.datatype.Layout;

/** An operation of a reduction. */
public class Op implements Freeable {
  private final Reduction reduction;
  private final String name;
  private boolean freed;

  Op(Arithmetic predefined) {
    reduction = predefined;
    name = predefined.name();
  }

  /**
   * An operation of the program.
   *
   * @param function computes it
   * @param commute whether operands may be taken in any order
   */
  public Op(User_function function, boolean commute) throws MPIException {
    if (function == null) {
      throw new MPIException(MPIException.ERR_OP, "function is null");
    }
    reduction = new User(function, commute);
    name = function.getClass().getName();
  }

  String name() {
    return name;
  }

  Reduction reduction() {
    if (freed) {
      throw new MPIException(MPIException.ERR_OP, "operation " + name + " was freed");
    }
    return reduction;
  }

  /** Gives it back. */
  @Override
  public void free() throws MPIException {
    if (!(reduction instanceof Arithmetic)) {
      freed = true;
    }
  }

  /** Gives it back. */
  public void Free() throws MPIException {
    free();
  }

  /** Whether operands may be taken in any order. */
  public boolean Is_commutative() {
    return reduction.commutative();
  }

  private static final class User implements Reduction {
    private final User_function function;
    private final boolean commute;

    User(User_function function, boolean commute) {
      this.function = function;
      this.commute = commute;
    }

    @Override
    public boolean commutative() {
      return commute;
    }

    @Override
    public void apply(
        Object in, int inOffset, Object inout, int inoutOffset, int count, Layout layout) {
      function.Call(in, inOffset, inout, inoutOffset, count, Datatype.of(layout));
    }
  }
}
