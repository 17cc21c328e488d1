// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

import io.talaria.bench.harness.TransportProbe.Transports;

/**
 * What the client found when all was in order.
 *
 * @param numbers how many went each way
 * @param elapsedNs in which time
 * @param transports which transport the connection took
 */
record CounterResult(long numbers, long elapsedNs, Transports transports) {}
