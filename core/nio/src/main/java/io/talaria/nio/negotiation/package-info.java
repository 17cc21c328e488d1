// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * How two processes of one host agree on upgrades, out of band: announcements and sessions over
 * Unix-domain sockets in the user's private directory, one thread of our own. Nothing here touches
 * an application's TCP stream.
 */
package io.talaria.nio.negotiation;
