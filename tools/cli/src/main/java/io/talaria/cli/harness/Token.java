// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.security.SecureRandom;
import java.util.HexFormat;

/** The word by which one process lets another in. */
public final class Token {
  private static final int BYTES = 16;

  private Token() {}

  /** Returns a token that cannot be guessed. */
  public static String random() {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
