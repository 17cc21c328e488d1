// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

/** What happens on errors. They always throw; this is only remembered. */
public class Errhandler {
  private final String name;

  Errhandler(String name) {
    this.name = name;
  }

  @Override
  public String toString() {
    return name;
  }
}
