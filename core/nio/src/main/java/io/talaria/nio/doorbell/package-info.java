// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Doorbells: pipes on which threads of this process sleep, and into which peers write. This
 * process's own come from a pool and live as long as it does; a peer's are opened through /proc
 * once it is proved whose they are. Knows neither transports nor channels.
 */
package io.talaria.nio.doorbell;
