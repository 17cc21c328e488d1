// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * An ordinary Netty server and a client that measures it, for {@code talaria demo} and {@code
 * talaria bench netty}. Neither knows of Talaria.
 *
 * <p>The first byte that a client sends on a connection says what the server does there: {@code E},
 * echo whatever follows, or {@code S}, count it.
 */
package io.talaria.bench.netty;
