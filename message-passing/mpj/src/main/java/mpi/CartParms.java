// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/** What a Cartesian communicator is like. */
public class CartParms {
  /** Ranks in each dimension. */
  public int[] dims;

  /** Whether each dimension wraps around. */
  public boolean[] periods;

  /** Where this rank is. */
  public int[] coords;

  CartParms(int[] dims, boolean[] periods, int[] coords) {
    this.dims = dims;
    this.periods = periods;
    this.coords = coords;
  }
}
