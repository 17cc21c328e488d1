// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import java.nio.ByteBuffer;

/** An offer that waits for the program to accept the connection it is for. */
record ReceivedOffer(ReceivedOffers from, int id, ConnectionKey connection, ByteBuffer payload) {}
