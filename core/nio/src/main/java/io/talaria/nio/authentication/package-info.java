// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * How two processes with the same key prove it to each other, and how what they say then is kept
 * from being changed: key file, proof, handshake, seal. Knows neither channels nor the negotiation.
 * The modules messaging, mpj and verbs-net use it as well.
 */
package io.talaria.nio.authentication;
