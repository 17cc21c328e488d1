// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

/** A frame that breaks the rules of {@link Wire}; the session that brought it ends. */
public final class MalformedFrameException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Tells what is wrong with it. */
  public MalformedFrameException(String what) {
    super("malformed frame: " + what);
  }
}
