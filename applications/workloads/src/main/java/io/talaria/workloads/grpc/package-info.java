// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The benchmark {@code talaria bench grpc}, and a gRPC service of bytes with its server and its
 * connections, all on Netty's NIO transport.
 */
package io.talaria.workloads.grpc;
