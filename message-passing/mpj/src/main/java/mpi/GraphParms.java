// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/** What a graph communicator is like. */
public class GraphParms {
  /** For each rank where its neighbours end in {@link #edges}. */
  public int[] index;

  /** Neighbours of all ranks. */
  public int[] edges;

  /** Empty. */
  public GraphParms() {}

  GraphParms(int[] index, int[] edges) {
    this.index = index;
    this.edges = edges;
  }
}
