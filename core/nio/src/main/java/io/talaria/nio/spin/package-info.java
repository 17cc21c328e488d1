// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** How long a thread that waits spins before it sleeps, and how many may spin at a time. */
package io.talaria.nio.spin;
