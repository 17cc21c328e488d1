// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * A node at work: its peers and connections, the poller that receives, requests and their
 * responses, and who takes what. All of it stands on {@link io.talaria.messaging.transport.Track}.
 */
package io.talaria.messaging.engine;
