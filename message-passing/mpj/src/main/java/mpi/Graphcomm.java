// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import java.util.Arrays;

/** A communicator whose ranks are the nodes of a graph. */
public class Graphcomm extends Intracomm {
  private final int[] index;
  private final int[] edges;

  Graphcomm(World world, Group group, int id, int[] index, int[] edges) {
    super(world, group, id);
    this.index = index;
    this.edges = edges;
  }

  static void check(int[] index, int[] edges, int available) {
    Buffers.given(index, "index");
    Buffers.given(edges, "edges");
    int before = 0;
    for (int end : index) {
      if (end < before || end > edges.length) {
        throw new MPIException(
            MPIException.ERR_TOPOLOGY,
            "index "
                + Arrays.toString(index)
                + ": growing numbers up to "
                + edges.length
                + " are allowed");
      }
      before = end;
    }
    if (index.length > available) {
      throw new MPIException(
          MPIException.ERR_TOPOLOGY, index.length + " nodes: there are " + available + " ranks");
    }
    for (int edge : edges) {
      if (edge < 0 || edge >= index.length) {
        throw new MPIException(
            MPIException.ERR_TOPOLOGY,
            "edge to " + edge + ": 0 to " + (index.length - 1) + " is allowed");
      }
    }
  }

  @Override
  public Object clone() throws MPIException {
    return new Graphcomm(world(), Group(), newId(), index, edges);
  }

  @Override
  public int Topo_test() throws MPIException {
    return MPI.GRAPH;
  }

  /** What it is like. */
  public GraphParms Get() throws MPIException {
    return new GraphParms(index.clone(), edges.clone());
  }

  /**
   * The neighbours of a rank.
   *
   * @param rank which
   */
  public int[] Neighbours(int rank) throws MPIException {
    if (rank < 0 || rank >= index.length) {
      throw new MPIException(
          MPIException.ERR_RANK, "rank " + rank + ": 0 to " + (index.length - 1) + " is allowed");
    }
    return Arrays.copyOfRange(edges, rank == 0 ? 0 : index[rank - 1], index[rank]);
  }

  @Override
  int[] neighbors() {
    return Neighbours(Rank());
  }

  /**
   * Where this rank would be in a graph.
   *
   * @param index of the graph
   * @param edges of the graph
   * @return a rank, or {@link MPI#UNDEFINED}
   */
  public int Map(int[] index, int[] edges) throws MPIException {
    check(index, edges, Size());
    return Rank() < index.length ? Rank() : MPI.UNDEFINED;
  }
}
