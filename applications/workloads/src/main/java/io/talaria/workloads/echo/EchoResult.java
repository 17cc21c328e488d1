// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import io.talaria.bench.harness.TransportProbe.Transports;

/**
 * What the client reports: that it is connected, and in the end.
 *
 * @param lines how many lines came back
 * @param transports which transport the connection took
 */
record EchoResult(long lines, Transports transports) {}
