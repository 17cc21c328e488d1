// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import java.nio.file.Path;

/** A process that holds its lock in a directory until its input ends. */
final class LockHolder {
  private LockHolder() {}

  public static void main(String[] arguments) throws Exception {
    if (OwnerLock.hold(Path.of(arguments[0])) == null) {
      throw new IllegalStateException("no lock");
    }
    new ProcessBuilder("true").start().waitFor(); // a child must not take the lock along
    System.gc();
    System.out.println("holds");
    System.in.read();
  }
}
