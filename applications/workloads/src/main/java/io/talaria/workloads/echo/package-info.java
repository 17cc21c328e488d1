// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The example {@code echo}: lines from standard input go to a server, by Netty or by gRPC, and come
 * back.
 *
 * <p>The command reads and prints; the child JVM with the connection is told one line after the
 * other and reports each answer. With Netty a line is a frame of UTF-8 with its length in front, 32
 * bits; the server, which sends back whatever comes, need not know. With gRPC it is a unary call.
 */
package io.talaria.workloads.echo;
