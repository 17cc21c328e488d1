// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What every {@link io.talaria.nio.transport.TransportStream} does, whatever its transport. */
package io.talaria.nio.stream;
