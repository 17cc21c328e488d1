// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Counts and publishes what a node does: its counters and their file, and events for the Flight
 * Recorder.
 */
package io.talaria.messaging.counters;
