// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Implements transport ucx: one worker a node, and one endpoint for each process of another node.
 * The stream of an endpoint carries the frames of all connections with that process, one connection
 * after the other.
 *
 * <p>Connections share an endpoint for three reasons. UCX pairs the endpoints of two workers by the
 * order in which they were made, numbers them with 16 bits, and keeps the mappings or sockets of
 * those that were closed in the ordinary way until the worker is closed ({@code
 * ClosedEndpointsTest} of the module {@code ucx} counts them). So both ends count the endpoints
 * that they have made for each other, and compare the counts in the handshake. A connection that
 * ends in order leaves the endpoint to the next one. An endpoint that must be closed is closed by
 * force, at both ends.
 *
 * <p>Only this package uses {@code io.talaria.ucx}, which may be absent. Nothing here is used
 * before {@link io.talaria.messaging.ucx.UcxTransport#open}, which says what is missing.
 */
package io.talaria.messaging.ucx;
