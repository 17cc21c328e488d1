// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.cli.harness.HostPort;

/** Reads where a server listens. */
final class HostPortConverter extends HostPort.Converter {
  /** The port if none is given. */
  static final int DEFAULT_PORT = 13_340;

  HostPortConverter() {
    super(DEFAULT_PORT);
  }
}
