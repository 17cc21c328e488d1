// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Carries the bytes of a session, plain or encrypted. Depends neither on handshakes nor on records.
 */
package io.talaria.messaging.wire;
