// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What every {@link io.talaria.nio.fabric.FabricStream} does, whatever its fabric. */
package io.talaria.nio.stream;
