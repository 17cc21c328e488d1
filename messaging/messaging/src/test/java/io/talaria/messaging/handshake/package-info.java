// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of how nodes come to connections. */
package io.talaria.messaging.handshake;
