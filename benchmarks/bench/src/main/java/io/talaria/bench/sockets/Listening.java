// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

/**
 * What a server reports once it listens.
 *
 * @param port its port on the loopback address
 */
record Listening(int port) {}
