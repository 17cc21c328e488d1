// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * How bytes travel between two nodes: a track has two rings a direction, data and control, and
 * knows how the other end is woken.
 */
package io.talaria.messaging.transport;
