// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** {@code talaria ports}: the ports of this host and of its fabric, and what they count. */
package io.talaria.cli.ports;
