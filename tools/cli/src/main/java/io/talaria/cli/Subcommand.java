// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import java.util.concurrent.Callable;

/**
 * A command that a module above this one adds to {@code talaria}: a class with picocli's
 * annotations, found as a service.
 */
public interface Subcommand extends Callable<Integer> {
  /** Returns the name of the command that this one belongs to; empty for {@code talaria} itself. */
  default String parent() {
    return "";
  }
}
