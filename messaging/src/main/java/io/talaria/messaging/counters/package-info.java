// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What a node shows of itself: its counters file, and events for the Flight Recorder. */
package io.talaria.messaging.counters;
