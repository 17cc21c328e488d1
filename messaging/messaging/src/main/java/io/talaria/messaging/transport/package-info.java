// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Carries bytes between two nodes. A link has two rings in each direction, data and control, and
 * wakes the other end.
 */
package io.talaria.messaging.transport;
