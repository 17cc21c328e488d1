// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

/** Something that must not happen, whatever a peer does. */
@SuppressWarnings("serial") // never is
final class Finding extends AssertionError {
  Finding(String what) {
    super(what);
  }

  Finding(String what, Throwable cause) {
    super(what, cause);
  }
}
