// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

/**
 * What both sides are told.
 *
 * @param grpc whether they speak gRPC
 */
record EchoJob(boolean grpc) {}
