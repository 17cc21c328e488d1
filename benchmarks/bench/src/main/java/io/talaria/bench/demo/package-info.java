// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The command {@code talaria demo}: an ordinary Netty server and client in two JVMs, first on the
 * JDK's sockets, then with the agent on both.
 */
package io.talaria.bench.demo;
