// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What the code tells HotSpot's compilers. */
package io.talaria.nio.jit;
