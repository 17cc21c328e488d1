// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.nio.ByteBuffer;

/**
 * An offer that waits for the program to accept the connection it is for.
 *
 * @param proof of where the connection ends, if the peer is in another network namespace; or null
 */
record ReceivedOffer(
    ReceivedOffers from,
    int id,
    ConnectionKey connection,
    SegmentProof proof,
    ByteBuffer payload) {}
