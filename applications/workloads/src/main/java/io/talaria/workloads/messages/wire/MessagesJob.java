// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.bench.compare.Timing;
import io.talaria.messaging.IdleStrategy;

/**
 * What both JVMs are told.
 *
 * @param implementation the implementation that is measured
 * @param pattern what is done
 * @param sizeBytes the object
 * @param threads how many of the client send, or make requests
 * @param idleStrategy what pollers of nodes do while nothing comes
 * @param directory a private one, for what has names
 * @param timing how long
 */
public record MessagesJob(
    MessagesImplementation implementation,
    MessagesPattern pattern,
    int sizeBytes,
    int threads,
    IdleStrategy idleStrategy,
    String directory,
    Timing timing) {}
