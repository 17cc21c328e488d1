// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import java.util.Base64;

/**
 * How to reach one side.
 *
 * @param address of its worker, in Base64
 * @param key of its memory, in Base64; empty if nobody reaches into it
 */
public record Credentials(String address, String key) {
  static Credentials of(byte[] address, byte[] key) {
    Base64.Encoder encoder = Base64.getEncoder();
    return new Credentials(encoder.encodeToString(address), encoder.encodeToString(key));
  }
}
