// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The command {@code talaria bench sockets}: plain NIO programs between two JVMs, on the JDK's
 * sockets and on Talaria, side by side.
 *
 * <p>The programs measured (everything that {@link io.talaria.bench.sockets.BenchPeer} starts) are
 * ordinary NIO code and know nothing of Talaria: direct buffers used again and again, no
 * allocation, partial reads and writes handled. The rest plans, runs and reports.
 */
package io.talaria.bench.sockets;
