// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.binding;

/**
 * What a {@code ucs_status_ptr_t} says: zero, done at once; from -100 to -1, a status; anything
 * else, a request.
 */
public final class StatusPointer {
  private static final long LAST = -100;

  private StatusPointer() {}

  /** {@code UCS_PTR_IS_ERR}. */
  public static boolean isError(long pointer) {
    return pointer < 0 && pointer >= LAST;
  }

  /** {@code UCS_PTR_IS_PTR}. */
  public static boolean isPointer(long pointer) {
    return pointer > 0 || pointer < LAST;
  }
}
