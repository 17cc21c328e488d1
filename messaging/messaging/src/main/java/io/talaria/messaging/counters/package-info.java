// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Publishes the state of a node: its counters file, and events for the Flight Recorder. */
package io.talaria.messaging.counters;
