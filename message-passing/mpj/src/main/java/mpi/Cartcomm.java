// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import java.util.Arrays;

/** A communicator whose ranks have Cartesian coordinates; the last dimension varies fastest. */
public class Cartcomm extends Intracomm {
  private final int[] dims;
  private final boolean[] periods;

  Cartcomm(World world, Group group, int id, int[] dims, boolean[] periods) {
    super(world, group, id);
    this.dims = dims;
    this.periods = periods;
  }

  static int size(int[] dims, boolean[] periods, int available) {
    Buffers.given(dims, "dims");
    Buffers.given(periods, "periods");
    if (dims.length != periods.length) {
      throw new MPIException(
          MPIException.ERR_DIMS, dims.length + " dimensions, but " + periods.length + " periods");
    }
    long n = 1;
    for (int d : dims) {
      if (d < 1) {
        throw new MPIException(
            MPIException.ERR_DIMS, "dimensions " + Arrays.toString(dims) + ": 1 or more each");
      }
      n = n > Integer.MAX_VALUE ? n : n * d;
    }
    if (n > available) {
      throw new MPIException(
          MPIException.ERR_DIMS,
          "dimensions " + Arrays.toString(dims) + " need " + n + " ranks: there are " + available);
    }
    return (int) n;
  }

  @Override
  public Object clone() throws MPIException {
    return new Cartcomm(world(), Group(), newId(), dims, periods);
  }

  @Override
  public int Topo_test() throws MPIException {
    return MPI.CART;
  }

  /** What it is like. */
  public CartParms Get() throws MPIException {
    return new CartParms(dims.clone(), periods.clone(), Coords(Rank()));
  }

  /**
   * The rank at coordinates.
   *
   * @param coords taken around where a dimension wraps
   */
  public int Rank(int[] coords) throws MPIException {
    if (Buffers.given(coords, "coords").length != dims.length) {
      throw new MPIException(
          MPIException.ERR_DIMS, coords.length + " coordinates for " + dims.length + " dimensions");
    }
    int rank = 0;
    for (int i = 0; i < dims.length; i++) {
      int c = coords[i];
      if (periods[i]) {
        c = Math.floorMod(c, dims[i]);
      } else if (c < 0 || c >= dims[i]) {
        throw new MPIException(
            MPIException.ERR_ARG,
            "coordinate " + c + " in dimension " + i + ": 0 to " + (dims[i] - 1) + " is allowed");
      }
      rank = rank * dims[i] + c;
    }
    return rank;
  }

  /**
   * The coordinates of a rank.
   *
   * @param rank which
   */
  public int[] Coords(int rank) throws MPIException {
    if (rank < 0 || rank >= Size()) {
      throw new MPIException(
          MPIException.ERR_RANK, "rank " + rank + ": 0 to " + (Size() - 1) + " is allowed");
    }
    int[] coords = new int[dims.length];
    int rest = rank;
    for (int i = dims.length - 1; i >= 0; i--) {
      coords[i] = rest % dims[i];
      rest /= dims[i];
    }
    return coords;
  }

  /**
   * Neighbours along a dimension.
   *
   * @param direction the dimension, from 0
   * @param disp how far away
   */
  public ShiftParms Shift(int direction, int disp) throws MPIException {
    dimension(direction);
    return new ShiftParms(neighbour(direction, -(long) disp), neighbour(direction, disp));
  }

  @Override
  int[] neighbors() {
    int[] ranks = new int[2 * dims.length];
    for (int i = 0; i < dims.length; i++) {
      ranks[2 * i] = neighbour(i, -1);
      ranks[2 * i + 1] = neighbour(i, 1);
    }
    return ranks;
  }

  /** What goes up is received from below: it matters where both neighbours are the same rank. */
  @Override
  int[] neighborsInSendOrder() {
    int[] order = new int[2 * dims.length];
    for (int i = 0; i < order.length; i++) {
      order[i] = i ^ 1;
    }
    return order;
  }

  private void dimension(int direction) {
    if (direction < 0 || direction >= dims.length) {
      throw new MPIException(
          MPIException.ERR_DIMS,
          "dimension " + direction + ": 0 to " + (dims.length - 1) + " is allowed");
    }
  }

  private int neighbour(int direction, long by) {
    int[] coords = Coords(Rank());
    long at = coords[direction] + by;
    if (!periods[direction] && (at < 0 || at >= dims[direction])) {
      return MPI.PROC_NULL;
    }
    coords[direction] = Math.floorMod(at, dims[direction]);
    return Rank(coords);
  }

  /**
   * Parts the ranks into grids of fewer dimensions; collective.
   *
   * @param remain_dims which dimensions stay
   */
  public Cartcomm Sub(boolean[] remain_dims) throws MPIException {
    if (Buffers.given(remain_dims, "remain_dims").length != dims.length) {
      throw new MPIException(
          MPIException.ERR_DIMS, remain_dims.length + " flags for " + dims.length + " dimensions");
    }
    int[] coords = Coords(Rank());
    int colour = 0;
    int key = 0;
    int kept = 0;
    int[] subDims = new int[dims.length];
    boolean[] subPeriods = new boolean[dims.length];
    for (int i = 0; i < dims.length; i++) {
      if (remain_dims[i]) {
        key = key * dims[i] + coords[i];
        subDims[kept] = dims[i];
        subPeriods[kept++] = periods[i];
      } else {
        colour = colour * dims[i] + coords[i];
      }
    }
    Intracomm part = Split(colour, key);
    return new Cartcomm(
        world(),
        part.Group(),
        part.id(),
        Arrays.copyOf(subDims, kept),
        Arrays.copyOf(subPeriods, kept));
  }

  /**
   * Where this rank would be in a grid.
   *
   * @param dims of the grid
   * @param periods of the grid
   * @return a rank, or {@link MPI#UNDEFINED}
   */
  public int Map(int[] dims, boolean[] periods) throws MPIException {
    return Rank() < size(dims, periods, Size()) ? Rank() : MPI.UNDEFINED;
  }

  /**
   * Divides ranks over dimensions, as evenly as they go, larger ones first.
   *
   * @param nnodes ranks, 1 or more
   * @param dims those that are 0 are filled in
   */
  public static void Dims_create(int nnodes, int[] dims) throws MPIException {
    if (nnodes < 1) {
      throw new MPIException(MPIException.ERR_ARG, nnodes + " ranks: 1 or more is allowed");
    }
    int rest = nnodes;
    int open = 0;
    for (int d : Buffers.given(dims, "dims")) {
      if (d < 0) {
        throw new MPIException(MPIException.ERR_DIMS, "dimension " + d + ": 0 or more is allowed");
      }
      if (d == 0) {
        open++;
      } else if (rest % d != 0) {
        throw new MPIException(
            MPIException.ERR_DIMS, nnodes + " ranks cannot be divided by dimension " + d);
      } else {
        rest /= d;
      }
    }
    if (open == 0) {
      if (rest != 1) {
        throw new MPIException(
            MPIException.ERR_DIMS,
            "dimensions " + Arrays.toString(dims) + " do not make " + nnodes + " ranks");
      }
      return;
    }
    int[] best = balanced(rest, open, rest);
    int next = 0;
    for (int i = 0; i < dims.length; i++) {
      if (dims[i] == 0) {
        dims[i] = best[next++];
      }
    }
  }

  /** The division into falling factors, none above most, whose first is smallest; or null. */
  private static int[] balanced(int n, int parts, int most) {
    if (parts == 1) {
      return n <= most ? new int[] {n} : null;
    }
    int least = 1;
    while (Math.pow(least, parts) < n) {
      least++;
    }
    for (int first = least; first <= Math.min(n, most); first++) {
      if (n % first == 0) {
        int[] rest = balanced(n / first, parts - 1, first);
        if (rest != null) {
          int[] all = new int[parts];
          all[0] = first;
          System.arraycopy(rest, 0, all, 1, parts - 1);
          return all;
        }
      }
    }
    return null;
  }
}
