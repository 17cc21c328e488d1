// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

/** A frame that breaks the rules of {@link Wire}; the session that brought it ends. */
final class MalformedFrameException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedFrameException(String what) {
    super("malformed frame: " + what);
  }
}
