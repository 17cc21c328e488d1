// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The layout of an address that travels; {@code WorkerAddressTest} of {@code ucx} has the same. */
class UcxWorkerAddressTest {
  private static final byte[] RAW = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};

  /** The CRC-32C of these digits is the check value that its specification gives. */
  private static final byte[] WRAPPED = {
    'T',
    'L',
    'A',
    '1',
    0,
    0,
    0,
    9,
    (byte) 0xe3,
    0x06,
    (byte) 0x92,
    (byte) 0x83,
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
    '7',
    '8',
    '9'
  };

  @Test
  void theLayoutIsTheDocumentedOne() {
    assertThat(UcxWorkerAddress.wrap(RAW)).isEqualTo(WRAPPED);
    assertThat(UcxWorkerAddress.unwrap(WRAPPED)).isEqualTo(RAW);
  }

  @Test
  void anAddressThatWasCutOrChangedIsRefused() {
    for (int length = 0; length < WRAPPED.length; length++) {
      byte[] cut = Arrays.copyOf(WRAPPED, length);
      assertThatThrownBy(() -> UcxWorkerAddress.unwrap(cut))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("no worker address: " + length + " bytes");
    }
    byte[] changed = WRAPPED.clone();
    changed[changed.length - 1] ^= 1;
    assertThatThrownBy(() -> UcxWorkerAddress.unwrap(changed))
        .hasMessage("a worker address whose checksum is wrong");
  }
}
