// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The ports of this host and of its fabric, and what they count. */
module io.talaria.monitor {
  requires io.talaria.ffi;

  exports io.talaria.monitor;
  exports io.talaria.monitor.fabric;
}
