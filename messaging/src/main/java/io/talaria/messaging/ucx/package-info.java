// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The transport on UCX: one worker a node, one endpoint for each process of another node, on whose
 * stream the frames of all connections with that process travel, one after the other.
 *
 * <p>Why one endpoint and not one a connection: UCX pairs the endpoints of two workers by the order
 * in which they were made, numbers them with 16 bits, and keeps mappings of those that were closed
 * in the ordinary way. So both ends count what they have made for each other and compare the counts
 * in the handshake; connections that end in order leave the endpoint for the next one; and where
 * one is closed, it is by force, at both ends.
 *
 * <p>The only package that names {@code io.talaria.ucx}, which may be absent: nothing here is
 * touched before {@link io.talaria.messaging.ucx.UcxTransport#open}, which says what is missing.
 */
package io.talaria.messaging.ucx;
