// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import java.io.Serializable;
import java.math.BigInteger;
import mpi.MPI;

/** Rank 0 hands out tasks, which are objects, and gets objects back. */
public final class Objects {
  private static final int TASK = 1;
  private static final int ANSWER = 2;

  private Objects() {}

  private record Task(String name, int number) implements Serializable {}

  private record Answer(String name, BigInteger factorial) implements Serializable {}

  /**
   * Runs as a rank.
   *
   * @param args none
   */
  public static void main(String[] args) {
    MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    Object[] message = new Object[1];
    if (rank == 0) {
      int size = MPI.COMM_WORLD.Size();
      for (int i = 1; i < size; i++) {
        message[0] = new Task("factorial of " + i, i);
        MPI.COMM_WORLD.Send(message, 0, 1, MPI.OBJECT, i, TASK);
      }
      for (int i = 1; i < size; i++) {
        MPI.COMM_WORLD.Recv(message, 0, 1, MPI.OBJECT, i, ANSWER);
        Answer answer = (Answer) message[0];
        System.out.println(answer.name() + ": " + answer.factorial());
      }
    } else {
      MPI.COMM_WORLD.Recv(message, 0, 1, MPI.OBJECT, 0, TASK);
      Task task = (Task) message[0];
      BigInteger product = BigInteger.ONE;
      for (int i = 2; i <= task.number(); i++) {
        product = product.multiply(BigInteger.valueOf(i));
      }
      message[0] = new Answer(task.name(), product);
      MPI.COMM_WORLD.Send(message, 0, 1, MPI.OBJECT, 0, ANSWER);
    }
    MPI.Finalize();
  }
}
